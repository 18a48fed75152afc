/**
 * Wall clocks of time zones, minute by minute, from Intl. The product finds them another way; nothing here imports it. A
 * wall-clock time is a number of minutes since 1970, as if it were in UTC.
 */

export const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

const formats = new Map<string, Intl.DateTimeFormat>();

/** The wall-clock time of an instant. */
export function wallAt(zone: string, instant: number): number {
  let format = formats.get(zone);
  if (!format) {
    // The Swedish form is 2026-03-29 03:00.
    format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
    formats.set(zone, format);
  }
  const text = format.format(instant);
  return Date.parse(`${text.slice(0, 10)}T${text.slice(11, 16)}Z`) / MINUTE_MS;
}

/** The instants from `from` to `until` before which the difference between a zone and UTC changes, to the minute. */
export function changesBetween(zone: string, from: number, until: number): number[] {
  const differenceAt = (instant: number) => wallAt(zone, instant) - instant / MINUTE_MS;
  const changes: number[] = [];
  let difference = differenceAt(from);
  for (let hour = from; hour < until; hour += HOUR_MS) {
    if (differenceAt(hour + HOUR_MS) === difference) continue;
    for (let instant = hour + MINUTE_MS; instant <= hour + HOUR_MS; instant += MINUTE_MS) {
      const next = differenceAt(instant);
      if (next !== difference) changes.push(instant);
      difference = next;
    }
  }
  return changes;
}

/** A range of instants, minute by minute. */
export interface Window {
  zone: string;
  from: number;
  until: number;
  /** The wall-clock time of each minute. */
  walls: number[];
}

export function windowOf(zone: string, from: number, until: number): Window {
  const walls: number[] = [];
  for (let instant = from; instant < until; instant += MINUTE_MS) walls.push(wallAt(zone, instant));
  return { zone, from, until, walls };
}
