import type { Clock } from '../clock.ts';
import { startRounds } from '../rounds.ts';
import { type Database, statement } from './database.ts';
import { expiryOf } from './idempotency.ts';

const EVERY_MS = 60 * 60 * 1000;
const BATCH = 1_000;

const SWEEP = statement(
  'idempotency.sweep',
  `delete from idempotency_keys where (caller, key) in (
     select caller, key from idempotency_keys where created_at < $1
     order by created_at limit ${BATCH} for update skip locked)`,
);

/** Once an hour deletes the keys that may be used anew, with the answers they hold. */
export function sweepIdempotencyKeys(
  db: Database,
  clock: Clock,
  onFailure: (error: unknown) => void,
): { stop(): Promise<void> } {
  return startRounds({
    clock,
    everyMs: EVERY_MS,
    async work(signal) {
      while (!signal.aborted && (await db.change(SWEEP, [expiryOf(clock.now())])) === BATCH);
    },
    onFailure,
  });
}
