import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { jitterMs } from '../domain/schedules/jitter.ts';
import type { TimeZoneStore } from '../store/time-zones.ts';
import type { CompiledTimings } from './compiled-timings.ts';

interface TimeZoneDataContext {
  store: TimeZoneStore;
  timings: CompiledTimings;
  clock: Clock;
  log: Log;
  /** The version of the time zone data of this process. */
  version: string;
}

/**
 * Recomputes the next times of all schedules when the database was written with other time zone data. A time that is due
 * already is not moved.
 */
export async function updateTimeZoneData(context: TimeZoneDataContext, signal: AbortSignal): Promise<void> {
  const { store, timings, clock, log, version } = context;
  const stored = await store.version();
  if (stored === version) return;
  let moved = 0;
  if (stored !== undefined) {
    for (let after = ''; !signal.aborted; ) {
      const now = clock.now();
      const page = await store.recompute(after, now, ({ deploymentId, timing, createdAt, jitterSeconds }) => {
        const next = timings.compile(timing, createdAt).after(now)?.at;
        if (!next) return { nextAt: null, dueAt: null };
        return {
          nextAt: next,
          dueAt: new Date(next.getTime() + jitterMs(deploymentId, next, jitterSeconds)),
        };
      });
      moved += page.moved;
      if (page.last === undefined) break;
      after = page.last;
    }
    if (signal.aborted) return;
    log.info(
      { from: stored, to: version, moved },
      'time zone data has changed; the next times of schedules were recomputed',
    );
  }
  await store.setVersion(version);
}
