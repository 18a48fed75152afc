import { Temporal } from 'temporal-polyfill';

/**
 * The time between two changes of a zone's UTC offset. Instants, offsets and wall-clock times are milliseconds; a
 * wall-clock time is the instant plus the offset, as if it were in UTC.
 */
export interface Segment {
  /** The previous change, or an earlier instant. */
  start: number;
  /** The next change; Infinity without one. */
  end: number;
  offset: number;
  /** The offsets before `start` and from `end` on. */
  before: number;
  after: number;
}

const DAY_MS = 86_400_000;
/**
 * More than the largest change of an offset, a day in Samoa and Kwajalein. A change that is longer ago repeats no
 * wall-clock time of this instant.
 */
const REACH_MS = 2 * DAY_MS;
/** Segments kept for each zone, and zones. Both are dropped as a whole, because they are cheap to find again. */
const MAX_SEGMENTS = 500;
const MAX_ZONES = 1_000;

const IANA = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/;

/** A segment, and the first instant for which it was found. */
interface FoundSegment extends Segment {
  from: number;
}

const segmentsOf = new Map<string, FoundSegment[]>();

/** Whether the time zone data has a zone of this name. UTC offsets such as +02:00 are no zones. */
export function isTimeZone(name: string): boolean {
  if (segmentsOf.has(name)) return true;
  if (name.length > 64 || !IANA.test(name)) return false;
  try {
    zoned(name, 0);
    return true;
  } catch {
    return false;
  }
}

/** The segment with an instant. */
export function segmentAt(zone: string, instant: number): Segment {
  const segments = segmentsOf.get(zone) ?? [];
  const known = segments.find(({ from, end }) => from <= instant && instant < end);
  if (known) return known;
  const found = findSegment(zone, instant);
  if (segmentsOf.size >= MAX_ZONES) segmentsOf.clear();
  segmentsOf.set(zone, segments.length < MAX_SEGMENTS ? [...segments, found] : [found]);
  return found;
}

function findSegment(zone: string, instant: number): FoundSegment {
  let from = instant;
  let start = instant - REACH_MS;
  let before = offsetAt(zone, start);
  let end = nextChange(zone, start);
  while (end <= instant) {
    before = offsetAt(zone, end - 1);
    start = end;
    from = start;
    end = nextChange(zone, start);
  }
  const offset = offsetAt(zone, instant);
  return { from, start, end, offset, before, after: end === Infinity ? offset : offsetAt(zone, end) };
}

const zoned = (zone: string, instant: number) =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);

const offsetAt = (zone: string, instant: number) => zoned(zone, instant).offsetNanoseconds / 1e6;

const nextChange = (zone: string, instant: number) =>
  zoned(zone, instant).getTimeZoneTransition('next')?.epochMilliseconds ?? Infinity;

/** A wall-clock time as text, without a zone. */
export function wallClock(local: number): string {
  return new Date(local).toISOString().slice(0, 19);
}

/** An offset as text, with seconds only if it has some. */
export function utcOffset(offset: number): string {
  const time = new Date(Math.abs(offset)).toISOString().slice(11, 19);
  return `${offset < 0 ? '-' : '+'}${time.endsWith(':00') ? time.slice(0, 5) : time}`;
}
