import { refuse, refuseField } from '../../../lib/errors.ts';
import { callerOf, onBehalf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import {
  ForkSessionRequest,
  Session,
  type SessionsServiceDefinition,
} from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { open, owned, sessionNotFound } from '../domain/access.ts';
import type { Checkpoint } from '../domain/fork.ts';
import { interrupt } from '../domain/interrupt.ts';
import { amend } from '../domain/leave.ts';
import type { Decide, DecideStop } from '../store/changes.ts';
import type { SessionRow } from '../store/lists.ts';
import { pinning } from '../store/writes.ts';
import { actorOf } from './actor.ts';
import type { HandlerContext } from './context.ts';
import { newSession, sessionOf } from './shapes.ts';

type Methods = Pick<
  Handlers<SessionsServiceDefinition>,
  'interruptSession' | 'forkSession' | 'setAgentVersion'
>;

const SMALL = 1_000;

/** What turns a session from the way it goes: a stop, another way from an earlier place, another version. */
export function steeringHandlers({
  clock,
  ids,
  agents,
  files,
  changes,
  forks,
  lists,
  reach,
}: HandlerContext): Methods {
  /** Before the session, so that it is never without. The sessions of an assistant have one workspace. */
  async function forkWorkspace(
    from: SessionRow,
    toSessionId: string,
    afterSeq: number,
    checkpoint: Checkpoint,
    call: Call,
  ) {
    if (isId('ast', from.agent_id)) return { undo: async () => {} };
    // Nobody has done anything since: what is there is right, told of in the journal or not yet.
    const isNow = afterSeq === from.last_seq && from.status === 'idle';
    const version = isNow ? undefined : checkpoint.workspaceVersion;
    await files.forkWorkspace({ fromSessionId: from.session_id, toSessionId, version }, call);
    const place = { of: { $case: 'sessionId' as const, value: toSessionId } };
    return {
      // One that stays behind belongs to no session and is reached by nobody.
      undo: () =>
        files.deleteWorkspace({ place }).then(
          () => {},
          () => {},
        ),
    };
  }

  return {
    async interruptSession({ sessionId }, call) {
      const caller = callerOf(call).userId;
      const decide: DecideStop = (state, seen) => ({
        change: interrupt(owned(state, sessionId, caller), seen, actorOf(call), clock.now()),
      });
      await reach.asOwner(sessionId, call, () => changes.stop(sessionId, SMALL, decide, call));
      return { session: sessionOf(await reach.own(sessionId, call)) };
    },

    async forkSession(request, call) {
      const row = await reach.own(request.sessionId, call);
      if (request.afterSeq > row.last_seq) {
        throw refuseField('/after_seq', `lies beyond the session's newest event, which is ${row.last_seq}`);
      }
      // Whoever may not start a session with the agent may not start one this way either.
      await agents.resolveAgent({ agentId: row.agent_id }, call);
      const checkpoint = await forks.checkpoint(request.sessionId, request.afterSeq, onBehalf(call));
      const one = {
        sessionId: ids('ses'),
        ownerId: row.owner_id,
        agentId: row.agent_id,
        agentVersion: row.agent_version,
        title: row.title,
        metadataJson: row.metadata,
        fromSessionId: request.sessionId,
        fromSeq: checkpoint.seq,
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
      const workspace = await forkWorkspace(row, one.sessionId, request.afterSeq, checkpoint, call);
      try {
        const { answer, replayed } = await forks.fork(one, key, answerFor, call);
        if (replayed) await workspace.undo();
        return { session: Session.decode(answer), replayed };
      } catch (error) {
        await workspace.undo();
        throw error;
      }
    },

    async setAgentVersion({ sessionId, version }, call) {
      const caller = callerOf(call).userId;
      const row = await reach.own(sessionId, call);
      if (isId('ast', row.agent_id)) throw refuse('INVALID_REQUEST', 'an assistant has no versions');
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
      const after = await lists.session(sessionId, onBehalf(call));
      if (!after) throw sessionNotFound(sessionId);
      return { session: sessionOf(after) };
    },
  };
}
