import type { Clock } from '../../../lib/clock.ts';
import { ERRORS, Refusal } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Log } from '../../../lib/log.ts';
import type { RefusalRow } from '../domain/invocations.ts';

/** A refused request to an existing deployment. Requests to unknown deployments are not logged. */
interface RefusedRequest {
  deploymentId: string;
  reason: string;
  bodyBytes: number;
  sourceAddress: string;
  /** req_… */
  requestId: string;
}

export interface RefusalLog {
  add(call: RefusedRequest): void;
  /** Writes the remaining rows. */
  stop(): Promise<void>;
}

interface RefusalLogContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  write(rows: RefusalRow[]): Promise<void>;
}

/** Per deployment, this many requests get a row each; afterwards one request per second does. */
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
 * Logs refused requests after the response has been sent. A flood of requests costs few rows: requests above the burst
 * are counted in one row per deployment, reason and minute. Memory and statements are bounded, too.
 */
export function createRefusalLog({ clock, ids, log, write }: RefusalLogContext): RefusalLog {
  const buckets = new Map<string, Bucket>();
  const pending = new Map<string, RefusalRow>();
  let sweptAt = 0;
  let droppedRequests = 0;
  let flushing = false;
  let running: Promise<void> = Promise.resolve();
  let cancelTimer: (() => void) | undefined;

  /** Whether the request gets its own row; undefined when too many deployments are tracked already. */
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

  function add(request: RefusedRequest): void {
    const createdAt = clock.now();
    const hasOwnRow = withinRate(request.deploymentId, createdAt.getTime());
    if (hasOwnRow === undefined) {
      droppedRequests++;
    } else {
      const slot = hasOwnRow ? undefined : `${createdAt.toISOString().slice(0, 16)} ${request.reason}`;
      const sameSlot = slot && pending.get(`${request.deploymentId} ${slot}`);
      if (sameSlot) sameSlot.count++;
      else {
        const invocationId = ids('inv');
        enqueue({ ...request, invocationId, slot: slot ?? invocationId, count: 1, createdAt });
      }
    }
    schedule();
  }

  function enqueue(row: RefusalRow): void {
    const key = `${row.deploymentId} ${row.slot}`;
    const later = pending.get(key);
    if (!later && pending.size >= MAX_ROWS) droppedRequests += row.count;
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
    if (droppedRequests > 0) {
      log.warn(
        { requests: droppedRequests },
        'some refused webhook requests were not logged because there were too many',
      );
      droppedRequests = 0;
    }
    if (rows.length === 0) return;
    try {
      await write(rows);
    } catch (error) {
      const isTemporary = error instanceof Refusal && ERRORS[error.code].retryable;
      log.warn(
        { err: error, rows: rows.length },
        `refused webhook requests could not be logged${isTemporary ? '; the write will be repeated' : ''}`,
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
