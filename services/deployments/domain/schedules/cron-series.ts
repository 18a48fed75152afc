import type { Calendar } from './calendar.ts';
import type { DaylightSaving } from './schedule.ts';
import type { Series } from './series.ts';
import { type Segment, segmentAt } from './zone.ts';

/** More than any change of an offset. */
const MARGIN_MS = 2 * 86_400_000;

/**
 * Maps the wall-clock times of a calendar to instants. It walks the segments of the zone; within one, an instant is the
 * wall-clock time minus the offset.
 */
export function cronSeries(calendar: Calendar, zone: string, dst: DaylightSaving): Series {
  const isFixed = !calendar.followsElapsedTime;
  const shifts = isFixed && dst.missing === 'shift';

  /** The first wall-clock time of a segment that counts. */
  const firstOf = ({ start, before, offset }: Segment) =>
    start + (isFixed && dst.repeated === 'first' ? Math.max(before, offset) : offset);
  /** The end of those that count. */
  const endOf = ({ end, after, offset }: Segment) =>
    end + (isFixed && dst.repeated === 'last' ? Math.min(after, offset) : offset);
  /** Whether the wall-clock time of a segment occurs in a neighbouring one, too. */
  const isRepeated = ({ start, end, offset, before, after }: Segment, local: number) =>
    local < start + before ? before > offset : local >= end + after;

  const hasTime = (from: number, until: number) => (calendar.next(from - 1) ?? Infinity) < until;

  /** Whether a gap before the segment has times, which are one time at its end. A regular time there replaces it. */
  function isShiftedTo({ start, before, offset }: Segment): boolean {
    if (!shifts || before >= offset) return false;
    const end = start + offset;
    return hasTime(start + before, end) && !hasTime(end, end + 1);
  }

  return {
    after(instant) {
      let segment = segmentAt(zone, instant);
      let local = calendar.next(Math.max(instant + segment.offset, firstOf(segment) - 1));
      while (local !== undefined && local >= endOf(segment)) {
        segment = segmentAt(zone, segment.end);
        if (isShiftedTo(segment)) return { at: segment.start, note: 'shifted' };
        const first = firstOf(segment);
        if (segment.before >= segment.offset || local < first) local = calendar.next(first - 1);
        // Segments without a time are skipped, because a rare time can be centuries away.
        const early = (local ?? 0) - segment.offset - MARGIN_MS;
        if (early > segment.end) segment = segmentAt(zone, early);
      }
      if (local === undefined) return undefined;
      return { at: local - segment.offset, note: isRepeated(segment, local) ? 'repeated' : null };
    },
    count(from, until) {
      let count = 0;
      for (let segment = segmentAt(zone, from); ; segment = segmentAt(zone, segment.end)) {
        if (segment.start >= from && isShiftedTo(segment)) count++;
        const { offset, end } = segment;
        const first = Math.max(from + offset, firstOf(segment));
        const last = Math.min(until + offset, endOf(segment));
        if (first < last) count += calendar.count(first, last);
        if (end >= until) return count;
      }
    },
  };
}
