import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { Type } from 'typebox';
import { Refusal } from '../../lib/errors.ts';
import type { FollowResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { EdgeContext } from '../context.ts';
import { callOf } from '../door/door.ts';
import { lastEventId } from '../input/headers.ts';
import { checkPath } from '../input/path.ts';
import { createQueryReader, type RawQuery } from '../input/query.ts';
import { closed, optional } from '../schemas/common.ts';
import { afterSeq, types, typesOf } from '../schemas/events.ts';
import { urlOf } from '../serve.ts';
import { EventWriter } from '../streaming/event-writer.ts';
import type { LiveStreams } from '../streaming/live.ts';
import { SSE_HEADERS } from '../streaming/sse.ts';

export const STREAM_PATH = '/sessions/{session_id}/events/stream';

export const StreamQuery = closed({
  after_seq: afterSeq,
  from: optional(Type.Enum(['now'], { description: 'Begin at the newest event instead of the first.' })),
  types,
});

/**
 * Events as they happen, as Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html).
 * Only events of the journal carry an id, so whoever joins again with the last one misses nothing.
 */
export function serveStream(
  app: FastifyInstance,
  { clients }: EdgeContext,
  live: LiveStreams,
  stallMs: number,
) {
  const readQuery = createQueryReader(StreamQuery);

  async function handle(request: FastifyRequest<{ Params: { session_id: string } }>, reply: FastifyReply) {
    const query = readQuery(request.query as RawQuery);
    checkPath(request.params);
    const chunks = clients.sessions.follow(startOf(request, query), callOf(request))[Symbol.asyncIterator]();
    // Until the first chunk is there the answer can still be an error with a status.
    const first = await chunks.next();
    if (first.done) return reply.code(204).send();
    if (request.method === 'HEAD') {
      await chunks.return?.();
      return reply.headers(SSE_HEADERS).send();
    }
    reply.hijack();
    const writer = new EventWriter(reply.raw, { ...reply.getHeaders() }, stallMs);
    if (query.from === 'now') writer.place(first.value.seq);
    // Not awaited: while a stream is idle nothing else of its request is kept.
    void copy(chunks, writer, live);
  }

  app.route({ method: 'GET', url: urlOf(STREAM_PATH), handler: handle, config: { lasting: true } });
}

function startOf(
  request: FastifyRequest<{ Params: { session_id: string } }>,
  query: Static<typeof StreamQuery>,
) {
  const last = lastEventId(request.raw);
  return {
    sessionId: request.params.session_id,
    afterSeq: last ?? query.after_seq ?? 0,
    fromNow: last === undefined && query.from === 'now',
    types: typesOf(query.types),
    untilCaughtUp: false,
  };
}

/** False when nothing comes any more. Here, as whoever waits would keep what it has seen last. */
function show({ done, value }: IteratorResult<FollowResponse>, writer: EventWriter): boolean {
  if (done) return false;
  for (const event of value.events) writer.event(event);
  if (value.caughtUp) writer.caughtUp(value.seq);
  return true;
}

/** Never fails. */
async function copy(
  chunks: AsyncIterator<FollowResponse>,
  writer: EventWriter,
  live: LiveStreams,
): Promise<void> {
  live.add(writer);
  try {
    while (writer.open && show(await chunks.next(), writer)) await writer.flushed();
    writer.end();
    await chunks.return?.();
  } catch (error) {
    // The head is out: what happened can only be said by sending the client elsewhere.
    if (error instanceof Refusal && error.code === 'CANCELLED') writer.end();
    else writer.drain();
  } finally {
    live.delete(writer);
  }
}
