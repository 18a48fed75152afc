import type { Clock } from '../../lib/clock.ts';
import { ERRORS } from '../../lib/error-codes.ts';
import { Refusal } from '../../lib/errors.ts';
import type { IdPrefix, Ids } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';

/** An event of an existing deployment that starts nothing. */
interface LogEntry {
  deploymentId: string;
  result: string;
  reason: string;
}

/** A row that has not been written yet. Its members are those of its first entry. */
export type CountedRow<Entry> = Entry & {
  id: string;
  /** The id; or minute, result and reason when the row stands for several entries. */
  slot: string;
  count: number;
  createdAt: Date;
};

export interface CountedLog<Entry> {
  add(entry: Entry): void;
  /** Writes the remaining rows. */
  stop(): Promise<void>;
}

interface CountedLogContext<Entry> {
  clock: Clock;
  ids: Ids;
  /** Of the ids of the rows. */
  prefix: IdPrefix;
  log: Log;
  /** The entries, for warnings. */
  subject: string;
  /** Whether an entry is one of many of its kind. It gets no row of its own. Default: none is. */
  isUsual?(entry: Entry): boolean;
  write(rows: CountedRow<Entry>[]): Promise<void>;
}

/** Per deployment, this many entries get a row each; afterwards one entry per second does. */
const BURST = 20;
const REFILL_MS = 1_000;
const FLUSH_MS = 1_000;
const MAX_DEPLOYMENTS = 1_000;
const MAX_ROWS = 5_000;

interface Bucket {
  tokens: number;
  filledAt: number;
}

/**
 * Logs refused and ignored events after the response has been sent. A flood of events costs few rows: events above the burst
 * are counted in one row per deployment, result, reason and minute. Memory and statements are bounded, too.
 */
export function createCountedLog<Entry extends LogEntry>(
  context: CountedLogContext<Entry>,
): CountedLog<Entry> {
  const { clock, ids, prefix, log, subject, isUsual, write } = context;
  const buckets = new Map<string, Bucket>();
  const pending = new Map<string, CountedRow<Entry>>();
  let sweptAt = 0;
  let dropped = 0;
  let flushing = false;
  let running: Promise<void> = Promise.resolve();
  let cancelTimer: (() => void) | undefined;

  /** Whether the entry gets its own row; undefined when too many deployments are tracked already. */
  function withinRate(deploymentId: string, now: number): boolean | undefined {
    const known = buckets.get(deploymentId);
    if (!known && buckets.size >= MAX_DEPLOYMENTS) {
      if (now - sweptAt >= FLUSH_MS) deleteFullBuckets(now);
      if (buckets.size >= MAX_DEPLOYMENTS) return undefined;
    }
    const bucket = known ?? { tokens: BURST, filledAt: now };
    const refilled = Math.max(0, now - bucket.filledAt) / REFILL_MS;
    bucket.tokens = Math.min(BURST, bucket.tokens + refilled);
    bucket.filledAt = now;
    buckets.set(deploymentId, bucket);
    if (bucket.tokens < 1) return false;
    bucket.tokens--;
    return true;
  }

  function add(entry: Entry): void {
    const createdAt = clock.now();
    const { deploymentId, result, reason } = entry;
    const hasOwnRow = isUsual?.(entry) ? false : withinRate(deploymentId, createdAt.getTime());
    if (hasOwnRow === undefined) {
      dropped++;
    } else {
      const slot = hasOwnRow
        ? undefined
        : [createdAt.toISOString().slice(0, 16), result, reason].filter(Boolean).join(' ');
      const sameSlot = slot && pending.get(`${deploymentId} ${slot}`);
      if (sameSlot) sameSlot.count++;
      else {
        const id = ids(prefix);
        enqueue({ ...entry, id, slot: slot ?? id, count: 1, createdAt });
      }
    }
    schedule();
  }

  function enqueue(row: CountedRow<Entry>): void {
    const key = `${row.deploymentId} ${row.slot}`;
    const later = pending.get(key);
    if (!later && pending.size >= MAX_ROWS) dropped += row.count;
    else pending.set(key, { ...row, count: row.count + (later?.count ?? 0) });
  }

  function schedule(): void {
    if (cancelTimer || flushing) return;
    cancelTimer = clock.after(FLUSH_MS, () => {
      cancelTimer = undefined;
      flushing = true;
      running = flush().finally(() => {
        flushing = false;
        if (pending.size > 0) schedule();
      });
    });
  }

  async function flush(): Promise<void> {
    const rows = [...pending.values()];
    pending.clear();
    deleteFullBuckets(clock.now().getTime());
    if (dropped > 0) {
      log.warn({ dropped }, `some ${subject} were not logged because there were too many`);
      dropped = 0;
    }
    if (rows.length === 0) return;
    try {
      await write(rows);
    } catch (error) {
      const isTemporary = error instanceof Refusal && ERRORS[error.code].retryable;
      log.warn(
        { err: error, rows: rows.length },
        `${subject} could not be logged${isTemporary ? '; the write will be repeated' : ''}`,
      );
      if (isTemporary) for (const row of rows) enqueue(row);
    }
  }

  /** A full bucket has the same effect as a missing bucket. */
  function deleteFullBuckets(now: number): void {
    sweptAt = now;
    for (const [deploymentId, { tokens, filledAt }] of buckets) {
      if (tokens + (now - filledAt) / REFILL_MS >= BURST) buckets.delete(deploymentId);
    }
  }

  return {
    add,
    async stop() {
      cancelTimer?.();
      await running;
      cancelTimer?.();
      await flush();
    },
  };
}
