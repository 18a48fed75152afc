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
import { titleOf } from '../domain/title.ts';
import { actorOf } from './actor.ts';
import type { HandlerContext } from './context.ts';
import { parseLine, textIn } from './json.ts';
import { newSession } from './shapes.ts';

type Methods = Pick<Handlers<SessionsServiceDefinition>, 'createConversation' | 'createSession'>;

/** How sessions come to be. */
export function beginningHandlers({ clock, ids, agents, creations }: HandlerContext): Methods {
  return {
    async createConversation(request, call) {
      const owner = callerOf(call);
      const agent = await agents.resolveAgent({ agentId: request.agentId }, call);
      const content = request.contentJson ? parseLine(request.contentJson, 'the content') : undefined;
      const beginning: Beginning = {
        sessionId: ids('ses'),
        ownerId: owner.userId,
        agentId: agent.agentId,
        agentVersion: agent.version,
        source: 'conversation',
        actor: actorOf(call),
        title: request.title || titleOf(textIn(content)),
        metadata: request.metadata,
        contentJson: content === undefined ? undefined : request.contentJson,
        turnId: ids('trn'),
        priority: INTERACTIVE,
        createdAt: clock.now(),
        traceparent: traceparent(call.trace),
      };
      if (request.idempotencyKey === '') {
        await creations.create(beginning, call);
        return { session: newSession(shown(beginning)), replayed: false };
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
        Session.encode(newSession(shown(beginning))).finish(),
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
          title: titleOf(request.text),
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

/** What its maker is told of it. */
function shown(beginning: Beginning) {
  return {
    ...beginning,
    title: beginning.title ?? null,
    lastSeq: beginning.contentJson === undefined ? 1 : 4,
  };
}
