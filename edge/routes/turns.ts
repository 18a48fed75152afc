import { list, ok } from '../envelope.ts';
import { route } from '../route.ts';
import { closed, pageRequest, paging } from '../schemas/common.ts';
import { SessionShape, shownSession } from '../schemas/sessions.ts';
import { shownTurn, TurnShape } from '../schemas/turns.ts';

export const turnRoutes = [
  route({
    method: 'GET',
    path: '/sessions/{session_id}/turns',
    operationId: 'listTurns',
    tag: 'Sessions',
    summary: 'List the turns of a session',
    description: 'Oldest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of turns.', data: TurnShape, list: true },
    errors: ['SESSION_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const asked = { sessionId: param('session_id'), page: pageRequest(query), unfinished: false };
      const { turns, page } = await clients.sessions.listTurns(asked, call);
      return list(turns.map(shownTurn), page);
    },
  }),

  route({
    method: 'GET',
    path: '/sessions/{session_id}/turns/{turn_id}',
    operationId: 'getTurn',
    tag: 'Sessions',
    summary: 'Read a turn',
    success: { status: 200, description: 'The turn.', data: TurnShape },
    errors: ['SESSION_NOT_FOUND', 'TURN_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const asked = { sessionId: param('session_id'), turnId: param('turn_id') };
      const { turn } = await clients.sessions.getTurn(asked, call);
      return ok(shownTurn(turn));
    },
  }),

  route({
    method: 'POST',
    path: '/sessions/{session_id}/interrupt',
    operationId: 'interruptSession',
    tag: 'Sessions',
    summary: 'Interrupt the turn',
    description:
      'Ends the turn that runs, waits for an approval or is next, at once. What it has said so far is kept, and the ' +
      'session can be used again. Nothing happens when there is no such turn.',
    success: { status: 200, description: 'The session as it is now.', data: SessionShape },
    errors: ['SESSION_NOT_FOUND', 'SESSION_TERMINATED'],
    async answer({ clients, call, param }) {
      const { session } = await clients.sessions.interruptSession({ sessionId: param('session_id') }, call);
      return ok(shownSession(session));
    },
  }),
];
