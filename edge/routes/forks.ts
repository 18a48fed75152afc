import { Type } from 'typebox';
import { ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { route } from '../route.ts';
import { closed } from '../schemas/common.ts';
import { SessionShape, shownSession } from '../schemas/sessions.ts';
import { replayed } from './replayed.ts';

export const forkRoutes = [
  route({
    method: 'POST',
    path: '/sessions/{session_id}/fork',
    operationId: 'forkSession',
    tag: 'Sessions',
    summary: 'Begin another session with the history of this one',
    description:
      'The new session has the history up to the last checkpoint that is not after `after_seq`. The two have nothing more ' +
      'to do with each other.',
    headers: ['Idempotency-Key'],
    body: closed({
      after_seq: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'A seq of this session; 0 for none of its history.',
      }),
    }),
    example: { after_seq: 1 },
    success: { status: 201, description: 'The new session.', data: SessionShape },
    errors: [
      'SESSION_NOT_FOUND',
      'AGENT_NOT_FOUND',
      'ASSISTANT_NOT_FOUND',
      'AGENT_NOT_RUNNABLE',
      'AGENT_VERSION_NOT_FOUND',
      'ENVIRONMENT_DISABLED',
    ],
    async answer({ clients, call, param, body, request }) {
      const asked = {
        sessionId: param('session_id'),
        afterSeq: body.after_seq,
        idempotencyKey: idempotencyKey(request.raw),
      };
      const { session, replayed: again } = await clients.sessions.forkSession(asked, call);
      return ok(shownSession(session), replayed(again));
    },
  }),
];
