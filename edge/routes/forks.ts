import { Type } from 'typebox';
import { ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { route } from '../route.ts';
import { closed } from '../schemas/common.ts';
import { SessionShape, serializeSession } from '../schemas/sessions.ts';
import { etag } from './etag.ts';
import { replayed } from './replayed.ts';

export const forkRoutes = [
  route({
    method: 'POST',
    path: '/sessions/{session_id}/fork',
    operationId: 'forkSession',
    tag: 'Sessions',
    summary: 'Begin a conversation with existing history',
    description:
      'Creates a conversation of the same agent or assistant that begins with the history of this session, up to its last ' +
      'checkpoint at or before `after_seq`. Later changes of one session do not affect the other.',
    headers: ['Idempotency-Key'],
    body: closed({
      after_seq: Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'A seq of this session; 0 begins without history.',
      }),
    }),
    example: { after_seq: 1 },
    success: { status: 201, description: 'The new session.', data: SessionShape, headers: ['ETag'] },
    errors: [
      'SESSION_NOT_FOUND',
      'AGENT_NOT_FOUND',
      'ASSISTANT_NOT_FOUND',
      'AGENT_NOT_RUNNABLE',
      'AGENT_VERSION_NOT_FOUND',
      'ENVIRONMENT_DISABLED',
    ],
    async answer({ clients, call, param, body, request }) {
      const fork = {
        sessionId: param('session_id'),
        afterSeq: body.after_seq,
        idempotencyKey: idempotencyKey(request.raw),
      };
      const { session, replayed: isReplay } = await clients.sessions.forkSession(fork, call);
      return ok(serializeSession(session), { ...etag(session?.lastSeq), ...replayed(isReplay) });
    },
  }),
];
