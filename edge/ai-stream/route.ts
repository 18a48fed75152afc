import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CallOptions } from '../../lib/grpc/contract.ts';
import type { EdgeContext } from '../context.ts';
import { callOf } from '../door/door.ts';
import { idempotencyKey, lastEventId } from '../input/headers.ts';
import { checkPath } from '../input/path.ts';
import { createQueryReader, type RawQuery } from '../input/query.ts';
import { replayed } from '../routes/replayed.ts';
import { closed } from '../schemas/common.ts';
import { MESSAGE_BYTES } from '../schemas/content.ts';
import { afterSeq } from '../schemas/events.ts';
import { receiveJson, urlOf } from '../serve.ts';
import type { LiveStreams } from '../streaming/live.ts';
import { AI_STREAM_HEADERS, ChunkWriter, type Piece } from './chunk-writer.ts';
import { RENDERED_TYPES } from './journal.ts';
import { render } from './render.ts';
import { Rendering } from './rendering.ts';
import { readAsk } from './request.ts';
import { type Showing, Turns } from './turns.ts';

export const AI_STREAM_PATH = '/sessions/{session_id}/ai-stream';
/** Where AI SDK's transport looks for a stream to join, unless it is told otherwise. */
export const AI_RECONNECT_PATH = `${AI_STREAM_PATH}/{chat_id}/stream`;

export const AiStreamQuery = closed({ after_seq: afterSeq });
const NO_QUERY = closed({});

type Request = FastifyRequest<{ Params: { session_id: string } }>;

/** Turns as UI Message Streams of AI SDK: a rendering of the journal, and not a second source. */
export function serveAiStream(
  app: FastifyInstance,
  { clients }: EdgeContext,
  live: LiveStreams,
  stallMs: number,
) {
  const readQuery = createQueryReader(AiStreamQuery);
  const readNoQuery = createQueryReader(NO_QUERY);

  async function post(request: Request, reply: FastifyReply) {
    const call = callOf(request);
    const ask = readAsk(await receiveJson(request.raw, MESSAGE_BYTES));
    readNoQuery(request.query as RawQuery);
    checkPath(request.params);
    const { session_id: sessionId } = request.params;
    const showing = await new Turns(clients, sessionId, call).ask(ask, idempotencyKey(request.raw));
    reply.headers(replayed(showing.replayed ?? false));
    if (await show(showing, request, reply, call)) return reply;
    return reply.code(204).send();
  }

  async function get(request: Request, reply: FastifyReply) {
    const call = callOf(request);
    const query = readQuery(request.query as RawQuery);
    checkPath(request.params, ['SESSION_NOT_FOUND']);
    const place = lastEventId(request.raw) ?? query.after_seq ?? 0;
    const turns = new Turns(clients, request.params.session_id, call);
    const left = place === 0 ? undefined : await turns.at(place);
    if (left && (await show(left, request, reply, call))) return reply;
    const current = await turns.current();
    // What had ended at that place is over; a later turn is news.
    if (current && current.from > place && (await show(current, request, reply, call))) return reply;
    return reply.code(204).send();
  }

  /** False when there is nothing to show. */
  async function show(
    showing: Showing,
    request: Request,
    reply: FastifyReply,
    call: CallOptions,
  ): Promise<boolean> {
    const { turnId, from, place } = showing;
    const { session_id: sessionId } = request.params;
    const journal = clients.sessions.follow(
      { sessionId, afterSeq: from, fromNow: false, types: RENDERED_TYPES, untilCaughtUp: false },
      call,
    );
    const pieces = render(journal, new Rendering(turnId), place);
    // Until the first piece is there the answer can still be another one.
    const first = await pieces.next();
    if (first.done) return false;
    if (request.method === 'HEAD') {
      await pieces.return(undefined);
      await reply.headers(AI_STREAM_HEADERS).send();
      return true;
    }
    reply.hijack();
    const writer = new ChunkWriter(reply.raw, { ...reply.getHeaders() }, stallMs);
    // Not awaited: while a stream is idle nothing else of its request is kept.
    void copy(pieces, writer, first.value, live);
    return true;
  }

  app.route({ method: 'POST', url: urlOf(AI_STREAM_PATH), handler: post, config: { lasting: true } });
  app.route({ method: 'GET', url: urlOf(AI_STREAM_PATH), handler: get, config: { lasting: true } });
  app.route({ method: 'GET', url: urlOf(AI_RECONNECT_PATH), handler: get, config: { lasting: true } });
}

/** Never fails. */
async function copy(
  pieces: AsyncGenerator<Piece[]>,
  writer: ChunkWriter,
  first: Piece[],
  live: LiveStreams,
): Promise<void> {
  live.add(writer);
  try {
    for (let some = first; ; ) {
      writer.write(some);
      await writer.flushed();
      const next = await pieces.next();
      if (next.done) break;
      some = next.value;
    }
    writer.end();
  } catch {
    // The head is out: what happened can only be said by sending the client elsewhere.
    writer.drain();
  } finally {
    live.delete(writer);
  }
}
