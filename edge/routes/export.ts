import type { FollowResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { callOf } from '../authentication/authenticator.ts';
import { checkPath } from '../input/path.ts';
import type { RawQuery } from '../input/query.ts';
import { route } from '../route.ts';
import { closed } from '../schemas/common.ts';
import { EVENT_EXAMPLE, EventShape } from '../schemas/event.ts';
import { ResponseWriter } from '../streaming/response-writer.ts';

/** The journal as JSON lines (https://github.com/ndjson/ndjson-spec). Each line equals the event in the list of events. */
export const exportRoutes = [
  route.raw({
    method: 'GET',
    path: '/sessions/{session_id}/export',
    operationId: 'exportSession',
    tag: 'Events',
    summary: 'Export the journal of a session',
    description: 'Returns every event up to the newest one as JSON lines, oldest first.',
    query: closed({}),
    responses: {
      200: {
        description:
          'A file. Each line is an event, as in the list of events. The schema is that of one line.',
        headers: ['Content-Disposition'],
        content: {
          'application/x-ndjson': { schema: EventShape, example: EVENT_EXAMPLE },
        },
      },
    },
    errors: ['SESSION_NOT_FOUND'],
    config: { longLived: true },
    createHandler({ clients, stallMonitor }, readQuery) {
      return async (request, reply) => {
        readQuery(request.query as RawQuery);
        const params = request.params as { session_id: string };
        checkPath(params);
        const { session_id: sessionId } = params;
        const journal = { sessionId, afterSeq: 0, fromNow: false, types: [], untilCaughtUp: true };
        const chunks = clients.sessions.follow(journal, callOf(request))[Symbol.asyncIterator]();
        try {
          // Until the first chunk arrives, the response can still be an error.
          const first = await chunks.next();
          reply.headers({
            'content-type': 'application/x-ndjson',
            'content-disposition': `attachment; filename="${sessionId}.jsonl"`,
          });
          if (request.method === 'HEAD') return reply.send();
          reply.hijack();
          const writer = new ResponseWriter(reply.raw, { ...reply.getHeaders() }, stallMonitor);
          if (!first.done) await copyLines(chunks, writer, first.value);
        } finally {
          await chunks.return?.();
        }
      };
    },
  }),
];

async function copyLines(
  chunks: AsyncIterator<FollowResponse>,
  writer: ResponseWriter,
  first: FollowResponse,
): Promise<void> {
  try {
    for (let chunk = first; writer.open; ) {
      if (chunk.events.length > 0) writer.write(`${chunk.events.map(({ json }) => json).join('\n')}\n`);
      await writer.flushed();
      const next = await chunks.next();
      if (next.done) break;
      chunk = next.value;
    }
    writer.end();
  } catch {
    // The status has been sent, so only a response without an end shows that the export is incomplete.
    writer.abort();
  }
}
