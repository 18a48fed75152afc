import { Type } from 'typebox';
import { ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { route } from '../route.ts';
import { count, id, nullable } from '../schemas/common.ts';
import { SessionContextShape, serializeSessionContext } from '../schemas/session-context.ts';
import { replayed } from './replayed.ts';

export const sessionContextRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/context',
    operationId: 'getSessionContext',
    tag: 'Sessions',
    summary: 'Get the context of a session',
    description:
      'Returns the context window of the model, the estimated tokens of the next request and their parts, the threshold at ' +
      'which the history is shortened, and the last compaction. The estimate is that of the newest model request and of the ' +
      'messages since then. Before the first request, and after a change of the agent version, the parts that only a request ' +
      'shows are null.',
    success: { status: 200, description: 'The context.', data: SessionContextShape },
    errors: ['SESSION_NOT_FOUND', 'ASSISTANT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const request = { sessionId: param('session_id') };
      return ok(serializeSessionContext(await clients.sessions.getSessionContext(request, call)));
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/compact',
    operationId: 'compactSession',
    tag: 'Sessions',
    summary: 'Shorten the history for the model',
    description:
      'Queues a turn of kind `compaction`, which shortens what the model gets of the turns before the newest `keep_turns`, ' +
      'as the `context` settings of the agent say: `summarize` replaces them by a summary, and `drop_tool_results` moves large ' +
      'tool results to files. It journals one `agent.context_compacted` and no message. The journal keeps the whole history. ' +
      'Messages that are sent meanwhile wait behind it. When there is nothing to shorten, the response has status 200 and no ' +
      'turn. A turn that finds nothing to shorten, or no large tool result, completes without an event.',
    headers: ['Idempotency-Key'],
    success: {
      status: 202,
      description: 'The turn is queued.',
      data: Type.Object({
        turn_id: nullable(id('trn', 'the turn that shortens the history. Null: there is nothing to shorten')),
        seq: nullable(count('The seq of its `turn.queued` event.')),
      }),
      alternative: { status: 200, description: 'There is nothing to shorten.' },
    },
    errors: [
      'SESSION_NOT_FOUND',
      'COMPACTION_DISABLED',
      'ASSISTANT_NOT_FOUND',
      'SESSION_BUSY',
      'QUOTA_EXCEEDED',
      'SESSION_ARCHIVED',
      'SESSION_TERMINATED',
    ],
    async answer({ clients, call, param, request }) {
      const compaction = { sessionId: param('session_id'), idempotencyKey: idempotencyKey(request.raw) };
      const { turnId, seq, replayed: isReplay } = await clients.sessions.compactSession(compaction, call);
      const headers = replayed(isReplay);
      if (turnId === undefined) return { ...ok({ turn_id: null, seq: null }, headers), status: 200 };
      return ok({ turn_id: turnId, seq }, headers);
    },
  }),
];
