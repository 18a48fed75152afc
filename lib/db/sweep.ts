import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { startPeriodicTask } from '../periodic-task.ts';
import { type Database, statement } from './database.ts';
import { expiryOf } from './idempotency.ts';

const INTERVAL_MS = 60 * 60 * 1000;
const BATCH = 1_000;

const SWEEP = statement(
  'idempotency.sweep',
  `delete from idempotency_keys where (caller, key) in (
     select caller, key from idempotency_keys where created_at < $1
     order by created_at limit ${BATCH} for update skip locked)`,
);

/** Deletes expired keys and their stored answers once an hour. */
export function sweepIdempotencyKeys(db: Database, clock: Clock, log: Log): { stop(): Promise<void> } {
  return startPeriodicTask({
    clock,
    everyMs: INTERVAL_MS,
    async work(signal) {
      while (!signal.aborted && (await db.change(SWEEP, [expiryOf(clock.now())])) === BATCH);
    },
    onFailure: (error) => log.warn({ err: error }, 'expired idempotency keys could not be deleted'),
  });
}
