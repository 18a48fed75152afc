import { jitterMs } from './jitter.ts';
import type { Overlap } from './schedule.ts';
import type { CompiledTiming } from './timing.ts';

/** A row of the run history: one scheduled time, or a range of missed ones. */
export interface RunRow {
  /** The time, or the first time of the range. */
  scheduledFor: Date;
  /** The last time of a missed range; null for other rows. */
  scheduledUntil: Date | null;
  /** The number of scheduled times. */
  count: number;
  status: 'queued' | 'skipped' | 'missed';
  /**
   * Missed: `outside_catch_up` for times that are older than the catch-up window, `superseded` for times in it that a newer
   * time replaces. Skipped: `overlap` or `buffer_full`.
   */
  reason: 'outside_catch_up' | 'superseded' | 'overlap' | 'buffer_full' | null;
}

export interface Decision {
  /** Oldest first. Together they have each due time exactly once. */
  rows: RunRow[];
  /** The runs interrupt earlier unfinished runs when they start. */
  cancelsActive: boolean;
  /** The first time that is not due yet; undefined after the last time. */
  next: { scheduledFor: Date; dueAt: Date } | undefined;
}

interface DueSchedule {
  deploymentId: string;
  compiled: CompiledTiming;
  jitterSeconds: number;
  overlap: Overlap;
  catchUpSeconds: number;
}

/** Earlier runs of the schedule. */
interface ActiveRuns {
  isUnfinished: boolean;
  /** A queued run waits for an earlier one. */
  isQueued: boolean;
}

/** The newest times that `allow` starts after a downtime. */
const MAX_STARTS = 100;
/** A schedule that catches up nothing still starts its times when the service is this late. */
const MIN_WINDOW_MS = 10_000;

/**
 * Decides the fate of all scheduled times from `pending` on that are due. `pending` is due, also if the timing does not have
 * it any more. A range of missed times is counted, not listed.
 */
export function decideDue(schedule: DueSchedule, pending: Date, now: Date, active: ActiveRuns): Decision {
  const { deploymentId, compiled, jitterSeconds, overlap, catchUpSeconds } = schedule;
  const dueAt = (time: Date) => new Date(time.getTime() + jitterMs(deploymentId, time, jitterSeconds));
  const longestDelay = jitterSeconds * 1000;

  // Times before it are due with any jitter.
  const certainUntil = new Date(Math.max(now.getTime() - longestDelay, pending.getTime()) + 1);
  const recent: Date[] = [];
  let next = compiled.after(addMs(certainUntil, -1))?.at;
  while (next && dueAt(next) <= now) {
    recent.push(next);
    next = compiled.after(next)?.at;
  }

  const windowMs = Math.max(catchUpSeconds * 1000, MIN_WINDOW_MS) + longestDelay;
  const windowStart = addMs(now, -windowMs);
  const due = dueTimes(compiled, pending, certainUntil, recent);
  const startable = due.latest(windowStart, overlap === 'allow' ? MAX_STARTS : 1);
  const firstStart = startable[0];
  const rows = [
    missedRow(due.range(pending, windowStart), 'outside_catch_up'),
    missedRow(due.range(windowStart, firstStart ?? windowStart), 'superseded'),
    ...startable.map((time) => startRow(time, overlap, active)),
  ].filter((row) => row !== undefined);

  return {
    rows,
    cancelsActive: overlap === 'cancel_previous' && active.isUnfinished && startable.length > 0,
    next: next && { scheduledFor: next, dueAt: dueAt(next) },
  };
}

interface TimeRange {
  first: Date;
  last: Date;
  count: number;
}

/** The due times: `pending`, those of the timing after it and before `until`, and `recent`. */
function dueTimes(compiled: CompiledTiming, pending: Date, until: Date, recent: Date[]) {
  const afterPending = addMs(pending, 1);

  /** The last `limit` times from `from` to `before`, oldest first. */
  function latest(from: Date, limit: number, before?: Date): Date[] {
    const isIncluded = (time: Date) => time >= from && (!before || time < before);
    const times = recent.filter(isIncluded).slice(-limit);
    const end = before && before < until ? before : until;
    if (times.length < limit)
      times.unshift(...compiled.latest(later(from, afterPending), end, limit - times.length));
    if (times.length < limit && isIncluded(pending)) times.unshift(pending);
    return times;
  }

  return {
    latest,
    /** The times from `from` to `before`; undefined without one. */
    range(from: Date, before: Date): TimeRange | undefined {
      const [last] = latest(from, 1, before);
      if (!last) return undefined;
      const end = before < until ? before : until;
      const inRecent = recent.filter((time) => time >= from && time < before);
      const hasPending = pending >= from && pending < before;
      const count = compiled.count(later(from, afterPending), end) + inRecent.length + (hasPending ? 1 : 0);
      const first = hasPending ? pending : (compiled.after(addMs(later(from, afterPending), -1))?.at ?? last);
      return { first, last, count };
    },
  };
}

function missedRow(range: TimeRange | undefined, reason: RunRow['reason']): RunRow | undefined {
  if (!range) return undefined;
  const { first, last, count } = range;
  return { scheduledFor: first, scheduledUntil: last, count, status: 'missed', reason };
}

function startRow(scheduledFor: Date, overlap: Overlap, active: ActiveRuns): RunRow {
  const reason = skipReason(overlap, active);
  return { scheduledFor, scheduledUntil: null, count: 1, status: reason ? 'skipped' : 'queued', reason };
}

function skipReason(overlap: Overlap, { isUnfinished, isQueued }: ActiveRuns): RunRow['reason'] {
  if (overlap === 'skip' && isUnfinished) return 'overlap';
  if (overlap === 'buffer_one' && isQueued) return 'buffer_full';
  return null;
}

const addMs = (time: Date, ms: number) => new Date(time.getTime() + ms);
const later = (one: Date, other: Date) => (one > other ? one : other);
