import { CronDate, type CronOptions, CronPattern } from 'croner';
import type { CronExpression } from './cron-expression.ts';

/** The wall-clock times of a cron expression, in milliseconds as if they were in UTC. */
export interface Calendar {
  /** Whether the hour field begins with `*`, so that the times follow elapsed time when clocks change. */
  followsElapsedTime: boolean;
  /** The first time strictly after another one; undefined without a time in the next centuries. */
  next(local: number): number | undefined;
  /** The number of times from `from` (inclusive) to `until` (exclusive). */
  count(from: number, until: number): number;
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Keeps the library from its own handling of zones, and from Intl. */
const UTC_OFFSET = 0;

export function compileCalendar(expression: CronExpression): Calendar {
  const { minutes, hours, days, followsElapsedTime } = expression;
  const options = { domAndDow: expression.bothDaysMatch };
  const times = compileSearch(`${expression.time} ${days}`, options);
  let matchingDays: Search | undefined;

  /** The number of times of a matching day before a time of day. */
  function countBefore(timeOfDay: number): number {
    const minute = Math.ceil(timeOfDay / MINUTE_MS);
    const hour = Math.floor(minute / 60);
    const full = hours.filter((value) => value < hour).length * minutes.length;
    return hours.includes(hour) ? full + minutes.filter((value) => value < minute % 60).length : full;
  }

  return {
    followsElapsedTime,
    next: times,
    count(from, until) {
      matchingDays ??= compileSearch(`0 0 ${days}`, options);
      let count = 0;
      let day = matchingDays(Math.floor(from / DAY_MS) * DAY_MS - 1);
      while (day !== undefined && day < until) {
        count += countBefore(Math.min(until - day, DAY_MS)) - countBefore(Math.max(from - day, 0));
        day = matchingDays(day);
      }
      return count;
    },
  };
}

/** Finds the first time strictly after another one. */
type Search = (local: number) => number | undefined;

function compileSearch(text: string, options: CronOptions): Search {
  const pattern = new CronPattern(text, undefined, { mode: '5-part' });
  // An entry for each of 10,000 years. Patterns without a field for years do not read it.
  pattern.year = [];
  // The last search. Without a time, a search goes through centuries.
  let from = Number.POSITIVE_INFINITY;
  let found: number | undefined;
  return (local) => {
    if (local >= from && (found === undefined || local < found)) return found;
    found = new CronDate(new Date(local), UTC_OFFSET).increment(pattern, options, false)?.getTime();
    from = local;
    return found;
  };
}
