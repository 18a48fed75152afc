import { ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { route } from '../route.ts';
import { closed, Metadata, optional } from '../schemas/common.ts';
import { Content, contentJson, MESSAGE_BYTES } from '../schemas/content.ts';
import { SessionShape, sessionTitle, shownSession } from '../schemas/sessions.ts';
import { replayed } from './replayed.ts';

export const conversationRoutes = [
  route({
    method: 'POST',
    path: '/agents/{agent_id}/conversations',
    operationId: 'createConversation',
    tag: 'Conversations',
    summary: 'Begin a conversation with an agent',
    description:
      'The only way in which a client makes a session. With a message its first turn is queued in the same commit.',
    headers: ['Idempotency-Key'],
    body: closed({ message: optional(Content), title: optional(sessionTitle), metadata: optional(Metadata) }),
    bodyLimit: MESSAGE_BYTES,
    bodyOptional: true,
    example: { message: 'Hello!', title: 'Greeting' },
    success: { status: 201, description: 'The new session.', data: SessionShape },
    errors: ['AGENT_NOT_FOUND', 'AGENT_NOT_RUNNABLE'],
    async answer({ clients, call, param, body, request }) {
      const { session, replayed: again } = await clients.sessions.createConversation(
        {
          agentId: param('agent_id'),
          contentJson: body?.message === undefined ? '' : contentJson(body.message),
          title: body?.title ?? '',
          metadata: body?.metadata ?? {},
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok(shownSession(session), replayed(again));
    },
  }),
];
