import { newSpan, type TimelineSpan } from './timeline-span.ts';

/** Shorter gaps are the time between two events, not a wait. */
const MIN_GAP_MS = 50;
/** Gaps below this share of the turn are not visible in the chart. */
const MIN_GAP_SHARE = 0.01;

/** Returns the times in which no span of a turn was active. An open turn is examined up to its newest known time. */
export function idleSpans(
  spans: readonly TimelineSpan[],
  start: number,
  end: number | undefined,
): TimelineSpan[] {
  const busy = spans.flatMap(leavesOf).toSorted((one, other) => one.start - other.start);
  const until = end ?? busy.reduce((latest, span) => Math.max(latest, span.end ?? span.start), start);
  const minimum = Math.max(MIN_GAP_MS, (until - start) * MIN_GAP_SHARE);
  const gaps: TimelineSpan[] = [];
  let reached = start;
  const note = (next: number) => {
    if (next - reached >= minimum) gaps.push(idleSpan(reached, next));
  };
  for (const span of busy) {
    note(span.start);
    reached = Math.max(reached, span.end ?? Number.POSITIVE_INFINITY);
  }
  note(until);
  return gaps;
}

/** The spans without children. A step is active only while one of its children is. */
function leavesOf(span: TimelineSpan): TimelineSpan[] {
  return span.children.length === 0 ? [span] : span.children.flatMap(leavesOf);
}

function idleSpan(start: number, end: number): TimelineSpan {
  return { ...newSpan(`idle-${start}`, 'idle', 'Idle', undefined, start), end };
}
