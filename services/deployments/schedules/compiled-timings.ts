import { LruCache } from '../../../lib/lru.ts';
import type { Timing } from '../domain/schedules/schedule.ts';
import { type CompiledTiming, compileTiming } from '../domain/schedules/timing.ts';

const MAX_ENTRIES = 2_000;

export type CompiledTimings = ReturnType<typeof createCompiledTimings>;

/** Compiles timings. Many schedules have the same timing, so that compiled ones are kept. */
export function createCompiledTimings() {
  const compiled = new LruCache<string, CompiledTiming>(MAX_ENTRIES);
  return {
    /** Throws INVALID_SCHEDULE. */
    compile(timing: Timing, createdAt: Date): CompiledTiming {
      // Only an interval without a start depends on the creation of the schedule.
      const origin = timing.kind === 'every' && !timing.startAt ? createdAt.getTime() : 0;
      const key = JSON.stringify([timing, origin]);
      const known = compiled.get(key);
      if (known) return known;
      const fresh = compileTiming(timing, createdAt);
      compiled.set(key, fresh);
      return fresh;
    },
  };
}
