import { refuse } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/event-parts.ts';
import { type Change, draft, type EventDraft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { INTERRUPTED } from './finish.ts';
import type { QueuedTurn, SessionState, TurnState } from './state.ts';
import { traceFields } from './turn-fields.ts';

/** Whether the queued turns go on after an interrupt, or wait until a user releases the queue. */
export type QueueAfterInterrupt = 'continue' | 'hold';

/** Starts a held queue again. A queue that is not held stays as it is. */
export function releaseQueue(state: SessionState, actor: Actor): Change {
  const change = unchanged(state);
  const { next } = state;
  if (!state.queueHeld || !next) return change;
  change.drafts = [
    queueHeldChanged(actor),
    draft('session.status_pending', { turn_id: next.turnId }, SYSTEM_ACTOR, { turnId: next.turnId }),
  ];
  change.head = { ...change.head, status: 'pending', queueHeld: false };
  change.promote = next.position;
  return change;
}

/** The event of a queue that is held or released. */
export function queueHeldChanged(actor: Actor): EventDraft {
  return draft('session.updated', { changed: ['queue_held'] }, actor);
}

/**
 * Removes a turn from the queue. `second` is the second turn of the queue, if any. Refuses with TURN_NOT_QUEUED when
 * the turn has started or ended.
 */
export function cancelQueuedTurn(
  state: SessionState,
  turn: TurnState,
  { second, actor, now }: { second: QueuedTurn | undefined; actor: Actor; now: Date },
): Change {
  if (turn.status !== 'queued' || turn.attempt > 0) throw turnNotQueued();
  const change = unchanged(state);
  const queuedTurns = state.queuedTurns - 1;
  const isLast = queuedTurns === 0;
  change.drafts = [
    draft('turn.cancelled', { turn_id: turn.turnId, reason: 'removed' }, actor, traceFields(turn)),
  ];
  change.head.queuedTurns = queuedTurns;
  change.turns = [{ ...turn, status: 'cancelled', ready: false, finishedAt: now }];
  if (isLast && state.queueHeld) {
    change.head.queueHeld = false;
    change.drafts.push(queueHeldChanged(actor));
  }
  if (state.status === 'pending' && isLast) {
    const stopReason = state.stopReason ?? INTERRUPTED;
    change.head.status = 'idle';
    change.head.stopReason = stopReason;
    change.drafts.push(draft('session.status_idle', { stop_reason: stopReason }, SYSTEM_ACTOR));
  }
  const wasNext = state.next?.turnId === turn.turnId && state.status === 'pending' && !state.current;
  if (wasNext && second) change.promote = second.position;
  return change;
}

export function turnNotQueued() {
  return refuse('TURN_NOT_QUEUED', 'The turn has started or ended. Only a queued turn can be removed.');
}
