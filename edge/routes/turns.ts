import { Type } from 'typebox';
import { list, ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { route } from '../route.ts';
import { closed, count, deleted, id, optional, pageRequest, paging } from '../schemas/common.ts';
import { overrideMembers, overridesOf } from '../schemas/overrides.ts';
import { SessionShape, serializeSession } from '../schemas/sessions.ts';
import { serializeTurn, serializeTurnResult, TurnResultShape, TurnShape } from '../schemas/turns.ts';
import { replayed } from './replayed.ts';
import { waitForTurn, waitSeconds } from './turn-wait.ts';

export const turnRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/turns',
    operationId: 'listTurns',
    tag: 'Sessions',
    summary: 'List the turns of a session',
    description: 'Returns the turns of the session, oldest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of turns.', data: TurnShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const request = { sessionId: param('session_id'), page: pageRequest(query), unfinished: false };
      const { turns, page } = await clients.sessions.listTurns(request, call);
      return list(turns.map(serializeTurn), page);
    },
  }),

  route({
    method: 'GET',
    path: '/sessions/{session_id}/turns/{turn_id}',
    operationId: 'getTurn',
    tag: 'Sessions',
    summary: 'Get a turn',
    description:
      'Returns the status, the usage, the error, the last message and the structured output of the turn. With `wait_seconds`, ' +
      'the response is sent when the turn ends or blocks, or when the time is over. If the message was delivered into a running ' +
      'turn, `delivered_to_turn_id` names that turn; the last message and `wait_seconds` are then those of that turn.',
    query: closed({ wait_seconds: waitSeconds }),
    success: { status: 200, description: 'The turn.', data: TurnResultShape },
    errors: ['SESSION_NOT_FOUND', 'TURN_NOT_FOUND'],
    async answer(exchange) {
      const { param, query } = exchange;
      const turn = { sessionId: param('session_id'), turnId: param('turn_id') };
      return ok(serializeTurnResult(await waitForTurn(exchange, turn, query.wait_seconds ?? 0)));
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/interrupt',
    operationId: 'interruptSession',
    tag: 'Sessions',
    summary: 'Interrupt the current turn',
    description:
      'Immediately ends the turn that runs, waits for an approval or is next. Its output so far is kept, and the session can ' +
      'be used again. Without such a turn, the request has no effect. Queued turns follow, or wait until the queue is released ' +
      'with `queue: "hold"`. Administrators and managers of the agent can interrupt the sessions of other users, which is ' +
      'recorded in the audit log.',
    body: closed({
      queue: optional(
        Type.Enum(['continue', 'hold'], {
          description:
            'The turns behind the interrupted one: `continue` (default) starts the next one, `hold` keeps them until ' +
            '`POST …/queue/release`. An empty queue is not held.',
        }),
      ),
    }),
    bodyOptional: true,
    example: { queue: 'hold' },
    success: { status: 200, description: 'The updated session.', data: SessionShape },
    errors: ['SESSION_NOT_FOUND', 'SESSION_TERMINATED'],
    async answer({ clients, call, param, body }) {
      const request = { sessionId: param('session_id'), holdQueue: body.queue === 'hold' };
      const { session } = await clients.sessions.interruptSession(request, call);
      return ok(serializeSession(session));
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/queue/release',
    operationId: 'releaseQueue',
    tag: 'Sessions',
    summary: 'Release a held queue',
    description: 'The next queued turn starts. A queue that is not held stays as it is.',
    success: { status: 200, description: 'The updated session.', data: SessionShape },
    errors: ['SESSION_NOT_FOUND', 'SESSION_ARCHIVED', 'SESSION_TERMINATED'],
    async answer({ clients, call, param }) {
      const { session } = await clients.sessions.releaseQueue({ sessionId: param('session_id') }, call);
      return ok(serializeSession(session));
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/turns/{turn_id}/regenerate',
    operationId: 'regenerateAnswer',
    tag: 'Sessions',
    summary: 'Regenerate the last answer',
    description:
      'Queues a turn that answers the message of this turn again. The new answer replaces the old one for later turns, forks ' +
      'and `GET …/ai-messages`. The journal keeps both, and file changes of the replaced turn stay. Only the last turn of an ' +
      'idle session can be replaced, also if it failed or was interrupted. For an earlier turn, fork the session. Without ' +
      'overrides, those of the replaced turn stay in force.',
    headers: ['Idempotency-Key'],
    body: closed(overrideMembers),
    bodyOptional: true,
    example: {},
    success: {
      status: 202,
      description: 'The turn is queued.',
      data: Type.Object({
        turn_id: id('trn', 'the new turn'),
        seq: count('The seq of the `turn.queued` event.'),
      }),
    },
    errors: [
      'SESSION_NOT_FOUND',
      'TURN_NOT_FOUND',
      'TURN_NOT_LAST',
      'ASSISTANT_NOT_FOUND',
      'OVERRIDE_NOT_ALLOWED',
      'SESSION_BUSY',
      'QUOTA_EXCEEDED',
      'SESSION_ARCHIVED',
      'SESSION_TERMINATED',
    ],
    async answer({ clients, call, param, body, request }) {
      const regeneration = {
        sessionId: param('session_id'),
        turnId: param('turn_id'),
        overrides: overridesOf(body),
        idempotencyKey: idempotencyKey(request.raw),
      };
      const { turnId, seq, replayed: isReplay } = await clients.sessions.regenerateAnswer(regeneration, call);
      return ok({ turn_id: turnId, seq }, replayed(isReplay));
    },
  }),

  route({
    method: 'DELETE',
    path: '/sessions/{session_id}/turns/{turn_id}',
    operationId: 'cancelTurn',
    tag: 'Sessions',
    summary: 'Remove a turn from the queue',
    description:
      'The turn ends as `cancelled`. Its message stays in the journal, but the model gets it in no later turn and in no fork. A turn that has started or ended is refused.',
    success: {
      status: 200,
      description: 'The turn was removed.',
      data: deleted('turn', id('trn', 'the turn')),
    },
    errors: ['SESSION_NOT_FOUND', 'TURN_NOT_FOUND', 'TURN_NOT_QUEUED'],
    async answer({ clients, call, param }) {
      const request = { sessionId: param('session_id'), turnId: param('turn_id') };
      await clients.sessions.cancelTurn(request, call);
      return ok({ turn_id: request.turnId, deleted: true });
    },
  }),
];
