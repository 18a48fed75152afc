import type { Actor } from '../../../lib/events.ts';
import { SYSTEM } from './begin.ts';
import { closeCalls } from './calls.ts';
import { type Change, draft, unchanged } from './change.ts';
import { discarded, publicUsage } from './finish.ts';
import type { QueuedTurn, SessionState } from './state.ts';

/** Title or metadata have changed: the event says which. */
export function amend(state: SessionState, changed: string[], actor: Actor): Change {
  const change = unchanged(state);
  if (changed.length > 0) change.drafts = [draft('session.updated', { changed }, actor)];
  return change;
}

/**
 * The session goes. Its turns end, each with its own event, and `session.deleted` is the last one
 * that followers see.
 */
export function remove(state: SessionState, queued: QueuedTurn[], actor: Actor, now: Date): Change {
  const change = unchanged(state);
  const turn = state.current;
  if (turn) {
    const { turnId, attempt, fence } = turn;
    const data = { turn_id: turnId, attempt, fence, usage: publicUsage(turn.usage) };
    const closed = closeCalls(turn, 'session_deleted');
    change.settled = closed.settled;
    change.drafts.push(
      ...discarded(turn, 'session_deleted'),
      ...closed.drafts,
      draft('turn.interrupted', data, SYSTEM, { turnId }),
    );
    change.turns.push({
      ...turn,
      status: 'interrupted',
      leaseUntil: null,
      openMessageId: null,
      calls: [],
      finishedAt: now,
    });
  }
  for (const { turnId } of queued) {
    change.drafts.push(
      draft('turn.cancelled', { turn_id: turnId, reason: 'session_deleted' }, SYSTEM, { turnId }),
    );
  }
  change.drafts.push(draft('session.deleted', {}, actor));
  change.head = {
    ...change.head,
    status: 'terminated',
    currentTurnId: null,
    queuedTurns: 0,
    fence: state.fence + 1,
  };
  return change;
}
