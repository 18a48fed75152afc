import type { Clock } from '../../lib/clock.ts';
import { unchanged } from './domain/change.ts';
import { type RunLimits, reclaim } from './domain/finish.ts';
import type { Changes } from './store/changes.ts';
import type { ClaimedTurnState } from './store/turn-queue.ts';

/** About how many bytes the change of a session writes. */
const CHANGE_BYTES = 1_000;

interface HandBackContext {
  changes: Pick<Changes, 'changeOptimistically'>;
  clock: Clock;
  limits: RunLimits;
}

/** Queues leased turns again whose runner left before it got them. Turns that have lost this lease stay as they are. */
export async function handBackTurns(
  turns: readonly ClaimedTurnState[],
  { changes, clock, limits }: HandBackContext,
): Promise<void> {
  const handBack = ({ state: { sessionId }, turn: leased }: ClaimedTurnState) =>
    changes.changeOptimistically(sessionId, CHANGE_BYTES, (state) => {
      if (!state) throw new Error('a leased turn without a session');
      const { current } = state;
      const isLeased = current?.status === 'in_progress' && current.fence === leased.fence;
      const change = isLeased ? reclaim(state, current, 'lease_lost', limits, clock.now()) : unchanged(state);
      return { change };
    });
  await Promise.all(turns.map(handBack));
}
