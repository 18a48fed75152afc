import type { Clock } from '../../lib/clock.ts';
import { type PeriodicTask, startPeriodicTask } from '../../lib/periodic-task.ts';

/** The interval in which deletions of other or ended replicas are picked up. */
const INTERVAL_MS = 30_000;
/** The delay of the first run, so that services of the same process have started. */
const INITIAL_DELAY_MS = 5_000;
const BATCH = 100;

/** Data in another service that may not be deleted yet. */
interface DeletionStore<Item> {
  /** The items after the key `after`, which is empty for the first page. */
  pending(after: string, limit: number): Promise<Item[]>;
  markDeleted(key: string): Promise<void>;
}

interface DeletionOutboxContext<Item> {
  store: DeletionStore<Item>;
  keyOf: (item: Item) => string;
  /** Deletes data in another service. A repetition has no effect. */
  deleteData: (item: Item, options: { signal: AbortSignal }) => Promise<unknown>;
  clock: Clock;
  onError: (error: unknown) => void;
}

/** Deletes data in another service, with retries until it succeeds. Several replicas may delete the same data. */
export function startDeletionOutbox<Item>(context: DeletionOutboxContext<Item>): PeriodicTask {
  const { store, keyOf, deleteData, clock, onError } = context;

  async function work(signal: AbortSignal): Promise<void> {
    let pending = await store.pending('', BATCH);
    while (pending.length > 0 && !signal.aborted) {
      for (const item of pending) await remove(item, signal);
      const last = pending.at(-1);
      pending = last === undefined || pending.length < BATCH ? [] : await store.pending(keyOf(last), BATCH);
    }
  }

  /** A failure does not stop the run. */
  async function remove(item: Item, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    try {
      await deleteData(item, { signal });
      await store.markDeleted(keyOf(item));
    } catch (error) {
      if (!signal.aborted) onError(error);
    }
  }

  return startPeriodicTask({
    clock,
    everyMs: INTERVAL_MS,
    firstAfterMs: INITIAL_DELAY_MS,
    work,
    onFailure: onError,
  });
}
