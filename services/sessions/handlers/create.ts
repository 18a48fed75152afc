import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  CreateConversationRequest,
  Session,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { INTERACTIVE, type NewSession, TRIGGERED } from '../domain/create.ts';
import { titleFromText } from '../domain/title.ts';
import { actorOf } from './actor.ts';
import type { SessionsHandlerContext } from './context.ts';
import { firstText, parseSingleLineJson } from './json.ts';
import { createdSessionMessage } from './proto.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'createConversation' | 'createSession'>;

/** Handlers that create sessions. */
export function creationHandlers({ clock, ids, agents, creations }: SessionsHandlerContext): Methods {
  return {
    async createConversation(request, call) {
      const owner = callerOf(call);
      const agent = await agents.resolveAgent({ agentId: request.agentId }, call);
      const content = request.contentJson ? parseSingleLineJson(request.contentJson, 'content') : undefined;
      const session: NewSession = {
        sessionId: ids('ses'),
        ownerId: owner.userId,
        agentId: agent.agentId,
        agentVersion: agent.version,
        source: 'conversation',
        actor: actorOf(call),
        title: request.title || titleFromText(firstText(content)),
        metadata: request.metadata,
        contentJson: content === undefined ? undefined : request.contentJson,
        turnId: ids('trn'),
        priority: INTERACTIVE,
        createdAt: clock.now(),
        traceparent: traceparent(call.trace),
      };
      if (request.idempotencyKey === '') {
        await creations.create(session, call);
        return { session: createdSessionMessage(createdShape(session)), replayed: false };
      }
      const key = {
        caller: owner.userId,
        key: request.idempotencyKey,
        method: 'createConversation',
        request: CreateConversationRequest.encode({ ...request, idempotencyKey: '' }),
        now: session.createdAt,
      };
      const { answer, replayed } = await creations.createOnce(
        session,
        key,
        Session.encode(createdSessionMessage(createdShape(session))).finish(),
        call,
      );
      return { session: Session.decode(answer), replayed };
    },

    async createSession(request, call) {
      const sessionId = withPrefix('ses', request.invocationId);
      await creations.create(
        {
          sessionId,
          ownerId: request.ownerId,
          agentId: request.agentId,
          agentVersion: request.agentVersion,
          source: 'webhook',
          actor: { type: 'trigger', id: request.deploymentId },
          deploymentId: request.deploymentId,
          invocationId: request.invocationId,
          title: titleFromText(request.text),
          metadata: {},
          bodyBytes: request.bodyBytes,
          sourceAddress: request.sourceAddress,
          requestId: call.requestId,
          contentJson: `[{"type":"text","text":${JSON.stringify(request.text)}}]`,
          turnId: ids('trn'),
          priority: TRIGGERED,
          createdAt: clock.now(),
          traceparent: traceparent(call.trace),
        },
        call,
      );
      return { sessionId };
    },
  };
}

/** Number of events of a new session without and with a first message. */
const CREATED_SEQ = { withoutMessage: 1, withMessage: 4 };

function createdShape(session: NewSession) {
  return {
    ...session,
    title: session.title ?? null,
    lastSeq: session.contentJson === undefined ? CREATED_SEQ.withoutMessage : CREATED_SEQ.withMessage,
  };
}
