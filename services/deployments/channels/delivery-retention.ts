import type { Clock } from '../../../lib/clock.ts';
import type { Log } from '../../../lib/log.ts';
import { type PeriodicTask, startPeriodicTask } from '../../../lib/periodic-task.ts';
import type { DeliveryRetentionStore } from '../store/delivery-retention.ts';

const INTERVAL_MS = 60_000;
const DAY_MS = 24 * 60 * INTERVAL_MS;
const PAYLOAD_DAYS = 7;

interface DeliveryRetentionContext {
  retention: DeliveryRetentionStore;
  clock: Clock;
  log: Log;
  historyDays: number;
}

/**
 * Erases the payloads of deliveries after seven days, large ones within a minute after they are handled, and deletes the rows
 * when they are older than the history.
 */
export function startDeliveryRetention(context: DeliveryRetentionContext): PeriodicTask {
  const { retention, clock, log, historyDays } = context;
  const daysAgo = (days: number) => new Date(clock.now().getTime() - days * DAY_MS);
  return startPeriodicTask({
    clock,
    everyMs: INTERVAL_MS,
    async work(signal) {
      while (!signal.aborted && (await retention.eraseLargePayloads()));
      while (!signal.aborted && (await retention.erasePayloadsBefore(daysAgo(PAYLOAD_DAYS))));
      while (!signal.aborted && (await retention.deleteBefore(daysAgo(historyDays))));
    },
    onFailure: (error) => log.warn({ err: error }, 'old deliveries of channels could not be erased'),
  });
}
