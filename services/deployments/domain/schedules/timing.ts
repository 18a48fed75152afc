import { compileCalendar } from './calendar.ts';
import { parseCron } from './cron-expression.ts';
import { cronSeries } from './cron-series.ts';
import { refuseSchedule } from './refusal.ts';
import type { Timing } from './schedule.ts';
import { intervalSeries, type Series, singleSeries } from './series.ts';
import { isTimeZone, segmentAt, utcOffset, wallClock } from './zone.ts';

export interface ScheduledTime {
  at: Date;
  /** The wall-clock time in the zone at this instant, as 2026-03-29T03:00:00. */
  local: string;
  /** As +02:00. */
  utcOffset: string;
  /**
   * `shifted`: the wall-clock time of the expression does not exist; this is the end of the gap. `repeated`: this
   * wall-clock time occurs twice. Only for cron expressions.
   */
  note: 'shifted' | 'repeated' | null;
}

export interface CompiledTiming {
  /** The first time strictly after an instant. */
  after(instant: Date): ScheduledTime | undefined;
  /** The first `limit` times from `from` (inclusive) to `until` (exclusive). */
  between(from: Date, until: Date, limit: number): ScheduledTime[];
  /** The number of times from `from` (inclusive) to `until` (exclusive). Takes microseconds per day of the range. */
  count(from: Date, until: Date): number;
  /** The last `limit` times from `from` (inclusive) to `until` (exclusive), oldest first. */
  latest(from: Date, until: Date, limit: number): Date[];
}

/**
 * Compiles a timing. Refused with INVALID_SCHEDULE for a malformed expression and an unknown zone. `createdAt` is the
 * origin of an interval without `startAt`.
 */
export function compileTiming(timing: Timing, createdAt: Date): CompiledTiming {
  const { timezone } = timing;
  if (!isTimeZone(timezone))
    throw refuseSchedule('/timezone', 'must be an IANA time zone, such as Europe/Berlin');
  const series = seriesOf(timing, createdAt);
  const first = timing.startAt?.getTime() ?? Number.NEGATIVE_INFINITY;
  const end = timing.endAt ? timing.endAt.getTime() + 1 : Number.POSITIVE_INFINITY;

  function after(instant: number): ScheduledTime | undefined {
    const found = series.after(Math.max(instant, first - 1));
    if (!found || found.at >= end) return undefined;
    const { offset } = segmentAt(timezone, found.at);
    return {
      at: new Date(found.at),
      local: wallClock(found.at + offset),
      utcOffset: utcOffset(offset),
      note: found.note,
    };
  }
  const count = (from: number, until: number) => {
    const start = Math.max(from, first);
    const stop = Math.min(until, end);
    return start < stop ? series.count(start, stop) : 0;
  };

  return {
    after: (instant) => after(instant.getTime()),
    between(from, until, limit) {
      const times: ScheduledTime[] = [];
      for (let at = from.getTime() - 1; times.length < limit; ) {
        const time = after(at);
        if (!time || time.at >= until) break;
        times.push(time);
        at = time.at.getTime();
      }
      return times;
    },
    count: (from, until) => count(from.getTime(), until.getTime()),
    latest(from, until, limit) {
      if (from >= until) return [];
      const start = latestStart(count, from.getTime(), until.getTime(), limit);
      const times: Date[] = [];
      for (let time = after(start - 1); time && time.at < until; time = after(time.at.getTime()))
        times.push(time.at);
      return times.slice(-limit);
    },
  };
}

function seriesOf(timing: Timing, createdAt: Date): Series {
  const { kind, cron, everySeconds, at, timezone, startAt, dst } = timing;
  switch (kind) {
    case 'cron':
      return cronSeries(compileCalendar(parseCron(cron ?? '')), timezone, dst);
    case 'every':
      return intervalSeries((startAt ?? createdAt).getTime(), (everySeconds ?? 0) * 1000);
    case 'at':
      return singleSeries(at?.getTime() ?? Number.NaN);
  }
}

const PRECISION_MS = 30_000;

/**
 * The start of the shortest range before `until`, up to some seconds, that has `limit` times; at least `from`. It counts
 * a logarithmic number of times, so it does not list the times before the range.
 */
function latestStart(
  count: (from: number, until: number) => number,
  from: number,
  until: number,
  limit: number,
): number {
  let low = from;
  let high = until;
  while (high - low > PRECISION_MS) {
    const middle = Math.floor((low + high) / 2);
    if (count(middle, until) >= limit) low = middle;
    else high = middle;
  }
  return low;
}
