import { Type } from 'typebox';
import type { ErrorCode } from '../../lib/error-codes.ts';
import { Refusal } from '../../lib/errors.ts';
import type { Session } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { type Exchange, route } from '../route.ts';
import { closed, Metadata, optional } from '../schemas/common.ts';
import {
  CONTENT_ERRORS,
  FirstMessage,
  MESSAGE_BYTES,
  readContent,
  refuseContentAt,
} from '../schemas/content.ts';
import { InitialFiles, initialFiles } from '../schemas/initial-files.ts';
import { overrideMembers, overridesOf } from '../schemas/overrides.ts';
import { SessionShape, serializeSession, sessionTitle } from '../schemas/sessions.ts';
import { etag } from './etag.ts';
import { replayed } from './replayed.ts';
import { turnMember, waitedTurn, waitSeconds } from './turn-wait.ts';

const BegunSession = Type.Intersect([SessionShape, Type.Object({ turn: optional(waitedTurn) })], {
  title: 'BegunSession',
  description: 'A new session. If the request waited, it is as after the wait and has its first turn.',
});

/** The kind of resource with which a conversation begins. */
interface ConversationOwner {
  path: string;
  parameter: string;
  operationId: string;
  summary: string;
  description: string;
  errors: readonly ErrorCode[];
}

const conversation = ({ path, parameter, operationId, summary, description, errors }: ConversationOwner) =>
  route({
    method: 'POST',
    path: `${path}/{${parameter}}/conversations`,
    operationId,
    tag: 'Conversations',
    summary,
    description,
    headers: ['Idempotency-Key'],
    body: closed(
      {
        message: optional(FirstMessage),
        files: optional(InitialFiles),
        title: optional(sessionTitle),
        metadata: optional(Metadata),
        wait_seconds: waitSeconds,
        ...overrideMembers,
      },
      { title: 'NewConversation' },
    ),
    bodyLimit: MESSAGE_BYTES,
    inlineData: true,
    bodyOptional: true,
    example: { message: 'Hello!', title: 'Greeting' },
    success: { status: 201, description: 'The new session.', data: BegunSession, headers: ['ETag'] },
    errors: [
      ...errors,
      ...CONTENT_ERRORS,
      'OVERRIDE_NOT_ALLOWED',
      'NAME_TAKEN',
      'AGENT_NOT_RUNNABLE',
      'ENVIRONMENT_DISABLED',
      'QUOTA_EXCEEDED',
    ],
    async answer(exchange) {
      const { clients, call, param, body, inlineData, request } = exchange;
      const { message } = body ?? {};
      const isObject = typeof message === 'object' && 'content' in message;
      const pointer = isObject ? '/message/content' : '/message';
      const content = isObject ? message.content : message;
      const {
        session,
        turnId,
        replayed: isReplay,
      } = await clients.sessions
        .createConversation(
          {
            agentId: param(parameter),
            ...(content === undefined ? { contentJson: '' } : readContent(content, pointer, inlineData)),
            files: initialFiles(body?.files),
            overrides: overridesOf(body ?? {}),
            title: body?.title ?? '',
            metadata: body?.metadata ?? {},
            idempotencyKey: idempotencyKey(request.raw),
          },
          call,
        )
        .catch(refuseContentAt(pointer));
      const begun = { sessionId: session?.sessionId ?? '', turnId };
      const turn = await turnMember(exchange, begun, body?.wait_seconds);
      const current = turn.turn ? await readSession(exchange, session) : session;
      return ok(
        { ...serializeSession(current), ...turn },
        { ...etag(current?.lastSeq), ...replayed(isReplay) },
      );
    },
  });

/** The session after the wait. The request has had its effect, so the answer has the new session if it cannot be read. */
async function readSession(
  { clients, call }: Pick<Exchange, 'clients' | 'call'>,
  created: Session | undefined,
): Promise<Session | undefined> {
  try {
    const { session } = await clients.sessions.getSession({ sessionId: created?.sessionId ?? '' }, call);
    return session ?? created;
  } catch (error) {
    if (error instanceof Refusal && error.code !== 'CANCELLED') return created;
    throw error;
  }
}

export const conversationRoutes = [
  conversation({
    path: '/agents',
    parameter: 'agent_id',
    operationId: 'createConversation',
    summary: 'Begin a conversation with an agent',
    description:
      'Creates a session with the agent. With a message, the first turn is queued in the same transaction.',
    errors: ['AGENT_NOT_FOUND'],
  }),

  conversation({
    path: '/assistants',
    parameter: 'assistant_id',
    operationId: 'createAssistantConversation',
    summary: 'Begin a conversation with an assistant',
    description:
      'Creates a session with the assistant. All sessions of an assistant share its workspace, and one turn runs at a time.',
    errors: ['ASSISTANT_NOT_FOUND'],
  }),
];
