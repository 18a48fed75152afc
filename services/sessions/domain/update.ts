import type { Actor } from '../../../lib/events.ts';
import { type Change, draft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { discardOpenMessage, publicUsage } from './finish.ts';
import type { QueuedTurn, SessionState } from './state.ts';
import { closeOpenCalls } from './tool-calls.ts';

/** Records which fields of the session have changed. Without a changed field there is no event. */
export function recordUpdate(state: SessionState, changed: string[], actor: Actor): Change {
  const change = unchanged(state);
  if (changed.length > 0) change.drafts = [draft('session.updated', { changed }, actor)];
  return change;
}

/**
 * Deletes the session. Each of its turns ends with its own event; `session.deleted` is the last event that followers
 * get.
 */
export function deleteSession(state: SessionState, queued: QueuedTurn[], actor: Actor, now: Date): Change {
  const change = unchanged(state);
  const turn = state.current;
  if (turn) {
    const { turnId, attempt, fence } = turn;
    const data = { turn_id: turnId, attempt, fence, usage: publicUsage(turn.usage) };
    const closed = closeOpenCalls(turn, 'session_deleted');
    Object.assign(change, closed.rows);
    change.drafts.push(
      ...discardOpenMessage(turn, 'session_deleted'),
      ...closed.drafts,
      draft('turn.interrupted', data, SYSTEM_ACTOR, { turnId }),
    );
    change.turns.push({
      ...turn,
      status: 'interrupted',
      leaseUntil: null,
      openMessageId: null,
      calls: [],
      approval: null,
      finishedAt: now,
    });
  }
  for (const { turnId } of queued) {
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
  return change;
}
