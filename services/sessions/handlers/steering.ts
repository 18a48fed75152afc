import { refuse, refuseField } from '../../../lib/errors.ts';
import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  ForkSessionRequest,
  Session,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { open, owned, sessionNotFound } from '../domain/access.ts';
import { interrupt } from '../domain/interrupt.ts';
import { amend } from '../domain/leave.ts';
import type { Decide, DecideStop } from '../store/changes.ts';
import { pinning } from '../store/writes.ts';
import { actorOf } from './actor.ts';
import { type HandlerContext, ownedRow } from './context.ts';
import { newSession, sessionOf } from './shapes.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'interruptSession' | 'forkSession' | 'setAgentVersion'
>;

const SMALL = 1_000;

/** What turns a session from the way it goes: a stop, another way from an earlier place, another version. */
export function steeringHandlers({ clock, ids, agents, changes, forks, lists }: HandlerContext): Methods {
  return {
    async interruptSession({ sessionId }, call) {
      const caller = callerOf(call).userId;
      const decide: DecideStop = (state, seen) => ({
        change: interrupt(owned(state, sessionId, caller), seen, actorOf(call), clock.now()),
      });
      await changes.stop(sessionId, SMALL, decide, call);
      return { session: sessionOf(await ownedRow(lists, sessionId, call)) };
    },

    async forkSession(request, call) {
      const row = await ownedRow(lists, request.sessionId, call);
      if (request.afterSeq > row.last_seq) {
        throw refuseField('/after_seq', `lies beyond the session's newest event, which is ${row.last_seq}`);
      }
      // Whoever may not start a session with the agent may not start one this way either.
      await agents.resolveAgent({ agentId: row.agent_id }, call);
      const one = {
        sessionId: ids('ses'),
        ownerId: row.owner_id,
        agentId: row.agent_id,
        agentVersion: row.agent_version,
        title: row.title,
        metadataJson: row.metadata,
        fromSessionId: request.sessionId,
        afterSeq: request.afterSeq,
        actor: actorOf(call),
        traceparent: traceparent(call.trace),
        createdAt: clock.now(),
      };
      const key = {
        caller: row.owner_id,
        key: request.idempotencyKey,
        method: 'forkSession',
        request: ForkSessionRequest.encode({ ...request, idempotencyKey: '' }),
        now: one.createdAt,
      };
      const answerFor = ({ lastSeq }: { lastSeq: number }) =>
        Session.encode(newSession({ ...one, metadata: JSON.parse(row.metadata), lastSeq })).finish();
      const { answer, replayed } = await forks.fork(one, key, answerFor, call);
      return { session: Session.decode(answer), replayed };
    },

    async setAgentVersion({ sessionId, version }, call) {
      const caller = callerOf(call).userId;
      const row = await ownedRow(lists, sessionId, call);
      if (version < 1) throw refuseField('/version', 'must be 1 or more');
      await agents.getAgentVersion({ agentId: row.agent_id, version }, call);
      const decide: Decide = (state) => {
        const session = open(owned(state, sessionId, caller));
        if (session.status !== 'idle' || session.current) {
          throw refuse('SESSION_BUSY', 'the version changes between turns only', { retryAfterSeconds: 1 });
        }
        const changed = session.agentVersion === version ? [] : ['agent_version'];
        const change = amend(session, changed, actorOf(call));
        return changed.length === 0 ? { change } : { change, update: pinning(sessionId, version) };
      };
      await changes.change(sessionId, SMALL, decide, call);
      const after = await lists.session(sessionId, call);
      if (!after) throw sessionNotFound(sessionId);
      return { session: sessionOf(after) };
    },
  };
}
