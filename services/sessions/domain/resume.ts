import { type Change, draft, type EventDraft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { requiredAction } from './required-action.ts';
import type { SessionState, TurnState } from './state.ts';

/**
 * Writes the decision or answer for a call of a blocked turn, whose new calls `turn` has. The turn is queued again when it
 * waits for no other one.
 */
export function resume(state: SessionState, turn: TurnState, drafts: readonly EventDraft[]): Change {
  const change = { ...unchanged(state), drafts: [...drafts], turns: [turn] };
  const stopReason = requiredAction(turn);
  if (stopReason) {
    change.head = { ...change.head, stopReason };
    return change;
  }
  change.turns = [{ ...turn, status: 'queued', ready: true }];
  change.head = {
    ...change.head,
    status: 'pending',
    currentTurnId: null,
    queuedTurns: state.queuedTurns + 1,
  };
  // With queued turns behind the blocked one the session is already pending.
  if (state.status !== 'pending') {
    const { turnId } = turn;
    change.drafts.push(draft('session.status_pending', { turn_id: turnId }, SYSTEM_ACTOR, { turnId }));
  }
  return change;
}
