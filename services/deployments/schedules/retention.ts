import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { startPeriodicTask } from '../../../lib/periodic-task.ts';
import type { HistoryStore } from '../store/history.ts';

const INTERVAL_MS = 60 * 60 * 1000;
const DAY_MS = 24 * INTERVAL_MS;

interface RetentionContext {
  history: HistoryStore;
  clock: Clock;
  log: Log;
  historyDays: number;
}

/** Deletes finished runs, and backfills without runs, once an hour when they are older than the history. */
export function startRetention({ history, clock, log, historyDays }: RetentionContext) {
  return startPeriodicTask({
    clock,
    everyMs: INTERVAL_MS,
    async work(signal) {
      const before = new Date(clock.now().getTime() - historyDays * DAY_MS);
      while (!signal.aborted && (await history.sweep(before)));
    },
    onFailure: (error) => log.warn({ err: error }, 'old runs could not be deleted'),
  });
}
