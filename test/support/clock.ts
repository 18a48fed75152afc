import type { Clock } from '../../lib/clock.ts';

/** A manual clock. `advance` runs the timers that become due, in order. */
export interface FakeClock extends Clock {
  advance(ms: number): void;
  /** The number of timers that are not due yet. A periodic task has one, except during a run. */
  readonly pending: number;
}

export function createFakeClock(start = new Date('2026-01-01T00:00:00.000Z')): FakeClock {
  let now = start.getTime();
  const timers = new Set<{ at: number; callback: () => void }>();
  return {
    now: () => new Date(now),
    after(ms, callback) {
      const timer = { at: now + ms, callback };
      timers.add(timer);
      return () => timers.delete(timer);
    },
    get pending() {
      return timers.size;
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const due = [...timers].filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers.delete(due);
        now = Math.max(now, due.at);
        due.callback();
      }
      now = until;
    },
  };
}
