import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { withPrefix } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  CreateConversationRequest,
  Session,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { Beginning } from '../domain/begin.ts';
import { NO_USAGE } from '../domain/state.ts';
import { actorOf } from './actor.ts';
import type { HandlerContext } from './context.ts';
import { oneLine } from './json.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'createConversation' | 'createSession'>;

/** How sessions come to be. */
export function beginningHandlers({ clock, ids, agents, creations }: HandlerContext): Methods {
  return {
    async createConversation(request, call) {
      const owner = callerOf(call);
      const agent = await agents.resolveAgent({ agentId: request.agentId }, call);
      const beginning: Beginning = {
        sessionId: ids('ses'),
        ownerId: owner.userId,
        agentId: agent.agentId,
        agentVersion: agent.version,
        source: 'conversation',
        actor: actorOf(call),
        title: request.title || undefined,
        metadata: request.metadata,
        contentJson: request.contentJson ? oneLine(request.contentJson, 'the content') : undefined,
        turnId: ids('trn'),
        priority: INTERACTIVE,
        createdAt: clock.now(),
        traceparent: traceparent(call.trace),
      };
      if (request.idempotencyKey === '') {
        await creations.create(beginning, call);
        return { session: newSession(beginning), replayed: false };
      }
      const key = {
        caller: owner.userId,
        key: request.idempotencyKey,
        method: 'createConversation',
        request: CreateConversationRequest.encode({ ...request, idempotencyKey: '' }),
        now: beginning.createdAt,
      };
      const { answer, replayed } = await creations.createOnce(
        beginning,
        key,
        Session.encode(newSession(beginning)).finish(),
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
          metadata: {},
          bodyBytes: request.bodyBytes,
          sourceAddress: request.sourceAddress,
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

/** A person waits for the answer. */
const INTERACTIVE = 0;
const TRIGGERED = 1;

/** A session as it is in the moment of its making. */
function newSession(beginning: Beginning): Session {
  const queued = beginning.contentJson !== undefined;
  return {
    sessionId: beginning.sessionId,
    agentId: beginning.agentId,
    agentVersion: beginning.agentVersion,
    deploymentId: '',
    invocationId: '',
    title: beginning.title ?? '',
    status: queued ? 'pending' : 'idle',
    stopReasonJson: '',
    needsAction: false,
    environmentStatus: 'none',
    currentTurnId: '',
    queuedTurns: queued ? 1 : 0,
    usage: NO_USAGE,
    lastSeq: queued ? 4 : 1,
    metadata: beginning.metadata,
    createdBy: beginning.ownerId,
    createdAt: beginning.createdAt,
    updatedAt: beginning.createdAt,
    archivedAt: undefined,
  };
}
