import type { Clock } from '../../lib/clock.ts';
import { ERRORS, Refusal } from '../../lib/errors.ts';
import type { Ids } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { RefusalRow } from './domain.ts';

/** A call that was refused. The deployment exists: calls of unknown ones are nobody's to read. */
export interface RefusedCall {
  deploymentId: string;
  reason: string;
  bodyBytes: number;
  sourceAddress: string;
}

export interface RefusalLog {
  note(call: RefusedCall): void;
  /** Writes what is left. */
  stop(): Promise<void>;
}

export interface RefusalLogContext {
  clock: Clock;
  ids: Ids;
  log: Log;
  write(rows: RefusalRow[]): Promise<void>;
}

/** A deployment may have this many calls logged one by one at once, and afterwards one per second. */
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
 * Logs refused calls after the answer has left. Whoever floods a webhook costs no more than a few rows: what
 * goes beyond the burst is counted in one row per deployment, reason and minute, and memory and statements
 * are bounded as well.
 */
export function createRefusalLog({ clock, ids, log, write }: RefusalLogContext): RefusalLog {
  const buckets = new Map<string, Bucket>();
  const pending = new Map<string, RefusalRow>();
  let sweptAt = 0;
  let unlogged = 0;
  let flushing = false;
  let running: Promise<void> = Promise.resolve();
  let cancelTimer: (() => void) | undefined;

  /** True while the deployment is within its rate; undefined when there are too many deployments to tell. */
  function withinRate(deploymentId: string, now: number): boolean | undefined {
    const known = buckets.get(deploymentId);
    if (!known && buckets.size >= MAX_DEPLOYMENTS) {
      if (now - sweptAt >= FLUSH_MS) forgetFull(now);
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

  function note(call: RefusedCall): void {
    const createdAt = clock.now();
    const alone = withinRate(call.deploymentId, createdAt.getTime());
    if (alone === undefined) {
      unlogged++;
    } else {
      const slot = alone ? undefined : `${createdAt.toISOString().slice(0, 16)} ${call.reason}`;
      const counted = slot && pending.get(`${call.deploymentId} ${slot}`);
      if (counted) counted.count++;
      else {
        const invocationId = ids('inv');
        keep({ ...call, invocationId, slot: slot ?? invocationId, count: 1, createdAt });
      }
    }
    schedule();
  }

  function keep(row: RefusalRow): void {
    const key = `${row.deploymentId} ${row.slot}`;
    const later = pending.get(key);
    if (!later && pending.size >= MAX_ROWS) unlogged += row.count;
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
    forgetFull(clock.now().getTime());
    if (unlogged > 0) {
      log.warn({ calls: unlogged }, 'refused webhook calls were not logged: there are too many');
      unlogged = 0;
    }
    if (rows.length === 0) return;
    try {
      await write(rows);
    } catch (error) {
      const passing = error instanceof Refusal && ERRORS[error.code].retryable;
      log.warn(
        { err: error, rows: rows.length },
        `refused webhook calls could not be logged${passing ? ' yet' : ''}`,
      );
      if (passing) for (const row of rows) keep(row);
    }
  }

  /** A full bucket is like none. */
  function forgetFull(now: number): void {
    sweptAt = now;
    for (const [deploymentId, { tokens, filledAt }] of buckets) {
      if (tokens + (now - filledAt) / REFILL_MS >= BURST) buckets.delete(deploymentId);
    }
  }

  return {
    note,
    async stop() {
      cancelTimer?.();
      await running;
      cancelTimer?.();
      await flush();
    },
  };
}
