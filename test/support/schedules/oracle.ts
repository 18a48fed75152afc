import { MINUTE_MS, type Window } from './wall-clocks.ts';

/**
 * The times of a cron expression by their definition. It tries every minute, and shares no code with the product.
 */

export interface DaylightSaving {
  missing: 'shift' | 'skip';
  repeated: 'first' | 'last' | 'both';
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const DAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');
const DAY_MINUTES = 1440;

/** The part of a window whose times are complete: minutes at its ends can be the target or the origin of others. */
export const MARGIN_MINUTES = 2 * DAY_MINUTES;

/** The instants at which an expression fires in the inner part of a window, in milliseconds. */
export function expectedTimes(expression: string, { from, walls }: Window, dst: DaylightSaving): number[] {
  const isTime = matcherOf(expression);
  const fires = new Set<number>();
  const isElapsed = expression.split(' ')[1]?.startsWith('*');
  if (isElapsed) {
    for (const [index, wall] of walls.entries()) if (isTime(wall)) fires.add(index);
  } else {
    const minutesOf = new Map<number, number[]>();
    for (const [index, wall] of walls.entries()) {
      const minutes = minutesOf.get(wall);
      if (minutes) minutes.push(index);
      else minutesOf.set(wall, [index]);
    }
    const last = Math.max(walls[0] ?? 0, walls.at(-1) ?? 0);
    for (let wall = walls[0] ?? 0; wall <= last; wall++) {
      if (!isTime(wall)) continue;
      const minutes = minutesOf.get(wall) ?? [];
      if (minutes.length === 0 && dst.missing === 'shift')
        minutes.push(walls.findIndex((later) => later > wall));
      if (dst.repeated !== 'last') fires.add(minutes[0] ?? -1);
      if (dst.repeated !== 'first') fires.add(minutes.at(-1) ?? -1);
    }
  }
  return [...fires]
    .filter((index) => index >= MARGIN_MINUTES && index < walls.length - MARGIN_MINUTES)
    .sort((one, other) => one - other)
    .map((index) => from + index * MINUTE_MS);
}

/** Whether a wall-clock time matches five fields. */
function matcherOf(expression: string): (wall: number) => boolean {
  const [minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] = expression
    .toUpperCase()
    .split(' ');
  const isMinute = simpleField(minute, 0, 59);
  const isHour = simpleField(hour, 0, 23);
  const isMonth = simpleField(month, 1, 12, MONTHS);
  const days = new Map<number, boolean>();
  const isDay = (wall: number): boolean => {
    const date = new Date(Math.floor(wall / DAY_MINUTES) * DAY_MINUTES * MINUTE_MS);
    if (!isMonth(date.getUTCMonth() + 1)) return false;
    const ofMonth = dayOfMonth.split(',').some((part) => matchesDayOfMonth(part, date));
    const ofWeek = dayOfWeek.split(',').some((part) => matchesDayOfWeek(part, date));
    const isOpen = dayOfMonth.startsWith('*') || dayOfWeek.startsWith('*');
    return isOpen ? ofMonth && ofWeek : ofMonth || ofWeek;
  };
  return (wall) => {
    const inDay = ((wall % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES;
    if (!isMinute(inDay % 60) || !isHour(Math.floor(inDay / 60))) return false;
    const day = Math.floor(wall / DAY_MINUTES);
    const known = days.get(day) ?? isDay(wall);
    days.set(day, known);
    return known;
  };
}

/** `*`, numbers, names, ranges and steps. */
function simpleField(
  field: string,
  min: number,
  max: number,
  names: string[] = [],
): (value: number) => boolean {
  const matches = new Set<number>();
  const numberOf = (text: string) => (names.includes(text) ? names.indexOf(text) + min : Number(text));
  for (const part of field.split(',')) {
    const [range = '', step = '1'] = part.split('/');
    const [first, last] = range === '*' ? [min, max] : range.split('-').map(numberOf);
    for (let value = first ?? min; value <= (last ?? first ?? max); value += Number(step)) matches.add(value);
  }
  return (value) => matches.has(value);
}

const daysIn = (date: Date) =>
  new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
const weekdayOf = (date: Date, day: number) =>
  new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)).getUTCDay();
const isWorkday = (date: Date, day: number) => weekdayOf(date, day) % 6 !== 0;

function matchesDayOfMonth(part: string, date: Date): boolean {
  const day = date.getUTCDate();
  const last = daysIn(date);
  if (part === 'L') return day === last;
  if (part === 'LW') {
    let workday = last;
    while (!isWorkday(date, workday)) workday--;
    return day === workday;
  }
  if (!part.endsWith('W')) return simpleField(part, 1, 31)(day);
  const wanted = Number(part.slice(0, -1));
  if (wanted > last) return false;
  // The nearest workday of the same month: the day itself, a day before or after it, then two days away.
  const candidates = [wanted, wanted - 1, wanted + 1, wanted - 2, wanted + 2];
  return (
    day === candidates.find((candidate) => candidate >= 1 && candidate <= last && isWorkday(date, candidate))
  );
}

function matchesDayOfWeek(part: string, date: Date): boolean {
  const day = date.getUTCDate();
  const weekday = date.getUTCDay();
  const dayNumber = (text: string) => (DAYS.includes(text) ? DAYS.indexOf(text) : Number(text) % 7);
  if (part.includes('#')) {
    const [name = '', nth] = part.split('#');
    return weekday === dayNumber(name) && Math.ceil(day / 7) === Number(nth);
  }
  if (part.length > 1 && part.endsWith('L'))
    return weekday === dayNumber(part.slice(0, -1)) && day + 7 > daysIn(date);
  const isDay = simpleField(part.replace(/(?<=-)SUN/, '7'), 0, 7, DAYS);
  return isDay(weekday) || (weekday === 0 && isDay(7));
}
