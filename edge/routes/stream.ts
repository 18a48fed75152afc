import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import { Type } from 'typebox';
import { callOf } from '../authentication/authenticator.ts';
import { lastEventId } from '../input/headers.ts';
import { checkPath } from '../input/path.ts';
import type { RawQuery } from '../input/query.ts';
import { route } from '../route.ts';
import { closed, optional } from '../schemas/common.ts';
import { EVENT_EXAMPLE, StreamItemShape } from '../schemas/event.ts';
import { afterSeq, types, typesOf } from '../schemas/events.ts';
import { EventStream } from '../streaming/event-stream.ts';
import { EventWriter } from '../streaming/event-writer.ts';
import { SharedFrames } from '../streaming/shared-frames.ts';
import { SSE_HEADERS } from '../streaming/sse.ts';

const StreamQuery = closed({
  after_seq: afterSeq,
  from: optional(
    Type.Enum(['now'], { description: 'Start after the newest event instead of before the first.' }),
  ),
  types,
});

/** Events as Server-Sent Events (https://html.spec.whatwg.org/multipage/server-sent-events.html). */
export const streamRoutes = [
  route.raw({
    method: 'GET',
    path: '/sessions/{session_id}/events/stream',
    operationId: 'streamEvents',
    tag: 'Events',
    summary: 'Stream the events of a session',
    description:
      'Server-Sent Events. `id` is the seq, `event` is the type and `data` is the event as JSON. The stream can be opened ' +
      'before, during and after turns. To resume without lost or repeated events, reconnect with `Last-Event-ID`. The control ' +
      'frames `stream.caught_up` and `stream.draining` have no id. The stream ends after `session.deleted`. For example:\n\n' +
      '```\nid: 2\nevent: user.message\ndata: {"event_id":"evt_…","session_id":"ses_…","seq":2,"type":"user.message",…}\n\n' +
      'event: stream.caught_up\ndata: {"type":"stream.caught_up","seq":2}\n```',
    query: StreamQuery,
    headers: ['Last-Event-ID'],
    responses: {
      200: {
        description: 'The event stream. The schema is that of one `data`.',
        headers: ['X-Accel-Buffering'],
        content: { 'text/event-stream': { schema: StreamItemShape, example: EVENT_EXAMPLE } },
      },
    },
    errors: ['INVALID_CURSOR', 'SESSION_NOT_FOUND'],
    config: { longLived: true },
    createHandler({ clients, liveStreams, stallMonitor }, readQuery) {
      const frames = new SharedFrames();
      return async (request: FastifyRequest, reply: FastifyReply) => {
        const query = readQuery(request.query as RawQuery);
        const params = request.params as { session_id: string };
        checkPath(params);
        const followed = clients.sessions.follow(
          followRequest(request, params.session_id, query),
          callOf(request),
        );
        const chunks = followed[Symbol.asyncIterator]();
        // Until the first chunk arrives, the response can still be an error.
        const first = await chunks.next();
        if (first.done) return reply.code(204).send();
        if (request.method === 'HEAD') {
          await chunks.return?.();
          return reply.headers(SSE_HEADERS).send();
        }
        reply.hijack();
        const writer = new EventWriter(reply.raw, { ...reply.getHeaders() }, stallMonitor);
        if (query.from === 'now') writer.writePosition(first.value.seq);
        new EventStream(chunks, { sessionId: params.session_id, writer, frames, liveStreams }).start();
      };
    },
  }),
];

function followRequest(request: FastifyRequest, sessionId: string, query: Static<typeof StreamQuery>) {
  const last = lastEventId(request.raw);
  return {
    sessionId,
    afterSeq: last ?? query.after_seq ?? 0,
    fromNow: last === undefined && query.from === 'now',
    types: typesOf(query.types),
    untilCaughtUp: false,
  };
}
