import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { FollowResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { EdgeContext } from '../context.ts';
import { callOf } from '../door/door.ts';
import { checkPath } from '../input/path.ts';
import { createQueryReader, type RawQuery } from '../input/query.ts';
import { closed } from '../schemas/common.ts';
import { urlOf } from '../serve.ts';
import { Outflow } from '../streaming/outflow.ts';

export const EXPORT_PATH = '/sessions/{session_id}/export';

const NO_QUERY = closed({});

/**
 * The whole journal as JSON lines (https://github.com/ndjson/ndjson-spec): each line is an event, byte for byte as in
 * the list of events. It ends with the newest event; an answer that is broken off has no proper end.
 */
export function serveExport(app: FastifyInstance, { clients }: EdgeContext, stallMs: number): void {
  const readQuery = createQueryReader(NO_QUERY);

  async function handle(request: FastifyRequest<{ Params: { session_id: string } }>, reply: FastifyReply) {
    readQuery(request.query as RawQuery);
    checkPath(request.params);
    const { session_id: sessionId } = request.params;
    const all = { sessionId, afterSeq: 0, fromNow: false, types: [], untilCaughtUp: true };
    const chunks = clients.sessions.follow(all, callOf(request))[Symbol.asyncIterator]();
    try {
      // Until the first chunk is there the answer can still be an error with a status.
      const first = await chunks.next();
      reply.headers({
        'content-type': 'application/x-ndjson',
        'content-disposition': `attachment; filename="${sessionId}.jsonl"`,
      });
      if (request.method === 'HEAD') return reply.send();
      reply.hijack();
      const out = new Outflow(reply.raw, { ...reply.getHeaders() }, stallMs, { drain: () => out.cut() });
      if (!first.done) await copy(chunks, out, first.value);
    } finally {
      await chunks.return?.();
    }
  }

  app.route({ method: 'GET', url: urlOf(EXPORT_PATH), handler: handle, config: { lasting: true } });
}

async function copy(
  chunks: AsyncIterator<FollowResponse>,
  out: Outflow,
  first: FollowResponse,
): Promise<void> {
  try {
    for (let chunk = first; out.open; ) {
      if (chunk.events.length > 0) out.write(`${chunk.events.map(({ json }) => json).join('\n')}\n`);
      await out.flushed();
      const next = await chunks.next();
      if (next.done) break;
      chunk = next.value;
    }
    out.end();
  } catch {
    // The head is out: only an answer without an end can say that something is missing.
    out.cut();
  }
}
