import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { startPeriodicTask } from '../../../lib/periodic-task.ts';
import type { MissingTimeStore } from '../store/missing-times.ts';
import type { UntimedSchedule } from '../store/next-times.ts';
import type { ScheduleTimes } from './schedule-times.ts';

/** At the start of a process, and in this interval, because processes of the previous release can still run. */
const INTERVAL_MS = 300_000;

interface MissingTimesContext {
  store: MissingTimeStore;
  times: Pick<ScheduleTimes, 'next'>;
  clock: Clock;
  log: Log;
}

/**
 * Computes the next times of enabled schedules that have none. A process of the previous release, which does not know
 * schedules, can disable one: its time is cleared when it is due. When such a process enables it, no next time is computed.
 */
export function startMissingTimes({ store, times, clock, log }: MissingTimesContext) {
  return startPeriodicTask({
    clock,
    everyMs: INTERVAL_MS,
    firstAfterMs: 0,
    async work(signal) {
      let found = 0;
      for (let after = ''; !signal.aborted; ) {
        const page = await store.compute(after, clock.now(), nextOf);
        found += page.found;
        if (page.last === undefined) break;
        after = page.last;
      }
      if (found > 0) log.warn({ schedules: found }, 'enabled schedules had no next time; it was computed');
    },
    onFailure: (error) => log.warn({ err: error }, 'missing times of schedules could not be computed'),
  });

  /**
   * Reads the clock after the rows were locked: the last time of a schedule can be fired while its row is read, and must not
   * become its next time again. None when the time zone data of this process lacks the zone.
   */
  function nextOf(schedule: UntimedSchedule) {
    try {
      return times.next(schedule, schedule, clock.now());
    } catch {
      return { nextAt: null, dueAt: null };
    }
  }
}
