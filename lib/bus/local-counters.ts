import type { Clock } from '../clock.ts';
import { type Counters, intervalOf } from './counters.ts';

/** Those who were not here for longest are forgotten first: a flood of names costs no more memory than this. */
const MAX_KEYS = 100_000;

/** Budgets of one process. */
export function createLocalCounters(clock: Clock): Counters {
  /** When the budget of a key is whole again, in microseconds. The keys that were used last stand last. */
  const wholeAt = new Map<string, number>();

  return {
    async take(key, budget) {
      const now = clock.now().getTime() * 1_000;
      const span = budget.windowMs * 1_000;
      // Of a clock that was set back nobody has to wait for longer than for all.
      const before = Math.min(Math.max(wholeAt.get(key) ?? 0, now), now + span);
      const after = before + intervalOf(budget);
      if (after > now + span) return Math.ceil((after - now - span) / 1_000);
      wholeAt.delete(key);
      wholeAt.set(key, after);
      if (wholeAt.size > MAX_KEYS) wholeAt.delete(wholeAt.keys().next().value ?? key);
      return 0;
    },
    async close() {
      wholeAt.clear();
    },
  };
}
