import type { Actor } from '../../../lib/event-parts.ts';
import { type Change, type ClosedApproval, type ClosedClientCall, draft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { attemptFields, discardOpenMessage } from './finish.ts';
import { countOpenModelRequest } from './open-model-request.ts';
import type { SessionState, TurnState } from './state.ts';
import { closeOpenCalls } from './tool-calls.ts';
import { publicUsage } from './turn-fields.ts';

/** Records which fields of the session have changed. Without a changed field there is no event. */
export function recordUpdate(state: SessionState, changed: string[], actor: Actor): Change {
  const change = unchanged(state);
  if (changed.length > 0) change.drafts = [draft('session.updated', { changed }, actor)];
  return change;
}

/**
 * Deletes the session. Each of its turns ends with its own event; `session.deleted` is the last event that followers
 * get. A queued turn that has started before, because its calls were decided or its runner was lost, is interrupted like the
 * current one.
 */
export function deleteSession(
  state: SessionState,
  queued: readonly TurnState[],
  actor: Actor,
  now: Date,
): Change {
  const change = unchanged(state);
  const closedApprovals: ClosedApproval[] = [];
  const closedClientCalls: ClosedClientCall[] = [];
  const current = state.current ? [state.current] : [];
  for (const begun of [...current, ...queued.filter(({ attempt }) => attempt > 0)]) {
    const {
      state: counted,
      turn,
      drafts,
    } = countOpenModelRequest({ ...state, usage: change.head.usage }, begun, now);
    change.head.usage = counted.usage;
    const data = { ...attemptFields(turn), usage: publicUsage(turn.usage) };
    const closed = closeOpenCalls(turn, 'session_deleted');
    closedApprovals.push(...closed.rows.closedApprovals);
    closedClientCalls.push(...closed.rows.closedClientCalls);
    change.drafts.push(
      ...discardOpenMessage(turn, 'session_deleted'),
      ...drafts,
      ...closed.drafts,
      draft('turn.interrupted', data, SYSTEM_ACTOR, { turnId: turn.turnId }),
    );
    change.turns.push({
      ...turn,
      status: 'interrupted',
      ready: false,
      wakeAt: null,
      leaseUntil: null,
      openMessageId: null,
      calls: [],
      approval: null,
      finishedAt: now,
    });
  }
  for (const { turnId } of queued.filter(({ attempt }) => attempt === 0)) {
    change.drafts.push(
      draft('turn.cancelled', { turn_id: turnId, reason: 'session_deleted' }, SYSTEM_ACTOR, { turnId }),
    );
  }
  change.drafts.push(draft('session.deleted', {}, actor));
  change.head = {
    ...change.head,
    status: 'terminated',
    currentTurnId: null,
    queuedTurns: 0,
    queueHeld: false,
    fence: state.fence + 1,
  };
  return { ...change, closedApprovals, closedClientCalls };
}
