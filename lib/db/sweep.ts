import type { Clock } from '../clock.ts';
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

/** Once an hour deletes the keys that may be used anew, with the answers they hold. The returned function ends it. */
export function sweepIdempotencyKeys(
  db: Database,
  clock: Clock,
  onError: (error: unknown) => void,
): () => void {
  let ended = false;
  let cancel = clock.after(EVERY_MS, () => void sweep());

  async function sweep(): Promise<void> {
    try {
      while (!ended && (await db.change(SWEEP, [expiryOf(clock.now())])) === BATCH);
    } catch (error) {
      if (!ended) onError(error);
    }
    if (!ended) cancel = clock.after(EVERY_MS, () => void sweep());
  }

  return () => {
    ended = true;
    cancel();
  };
}
