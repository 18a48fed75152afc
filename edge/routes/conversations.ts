import type { ErrorCode } from '../../lib/errors.ts';
import { ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { route } from '../route.ts';
import { closed, Metadata, optional } from '../schemas/common.ts';
import { Content, contentJson, MESSAGE_BYTES } from '../schemas/content.ts';
import { SessionShape, sessionTitle, shownSession } from '../schemas/sessions.ts';
import { replayed } from './replayed.ts';

/** With whom: an agent and an assistant are spoken to alike. */
interface Partner {
  path: string;
  parameter: string;
  operationId: string;
  summary: string;
  description: string;
  errors: readonly ErrorCode[];
}

const conversation = ({ path, parameter, operationId, summary, description, errors }: Partner) =>
  route({
    method: 'POST',
    path: `${path}/{${parameter}}/conversations`,
    operationId,
    tag: 'Conversations',
    summary,
    description,
    headers: ['Idempotency-Key'],
    body: closed({ message: optional(Content), title: optional(sessionTitle), metadata: optional(Metadata) }),
    bodyLimit: MESSAGE_BYTES,
    bodyOptional: true,
    example: { message: 'Hello!', title: 'Greeting' },
    success: { status: 201, description: 'The new session.', data: SessionShape },
    errors: [...errors, 'AGENT_NOT_RUNNABLE', 'ENVIRONMENT_DISABLED', 'QUOTA_EXCEEDED'],
    async answer({ clients, call, param, body, request }) {
      const { session, replayed: again } = await clients.sessions.createConversation(
        {
          agentId: param(parameter),
          contentJson: body?.message === undefined ? '' : contentJson(body.message),
          title: body?.title ?? '',
          metadata: body?.metadata ?? {},
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok(shownSession(session), replayed(again));
    },
  });

export const conversationRoutes = [
  conversation({
    path: '/agents',
    parameter: 'agent_id',
    operationId: 'createConversation',
    summary: 'Begin a conversation with an agent',
    description:
      'The only way in which a client makes a session with an agent. With a message its first turn is queued in the same commit.',
    errors: ['AGENT_NOT_FOUND'],
  }),

  conversation({
    path: '/assistants',
    parameter: 'assistant_id',
    operationId: 'createAssistantConversation',
    summary: 'Begin a conversation with an assistant',
    description:
      'The new session works in the workspace of the assistant, like all of its sessions: one turn at a time.',
    errors: ['ASSISTANT_NOT_FOUND'],
  }),
];
