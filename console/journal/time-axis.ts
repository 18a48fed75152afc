const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Distances of ticks, in milliseconds. */
const INTERVALS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR),
];

/**
 * Returns the ticks of a time axis in milliseconds after its start: the multiples of a round interval up to `durationMs`, at
 * most about `most` of them.
 */
export function ticksOf(durationMs: number, most: number): number[] {
  const smallest = durationMs / Math.max(1, most);
  const interval = INTERVALS.find((one) => one >= smallest) ?? Math.ceil(smallest / DAY) * DAY;
  return Array.from({ length: Math.floor(durationMs / interval) + 1 }, (_, index) => index * interval);
}

/** Formats a tick without digits that carry no information: "0", "500 ms", "1.5 s", "2 min 30 s", "1 h". */
export function tickText(ms: number): string {
  if (ms === 0) return '0';
  if (ms < SECOND) return `${ms} ms`;
  if (ms < MINUTE) return `${ms / SECOND} s`;
  const [units, large, small]: [number, string, string] =
    ms < HOUR ? [MINUTE, 'min', 's'] : [HOUR, 'h', 'min'];
  const rest = (ms % units) / (units / 60);
  return `${Math.floor(ms / units)} ${large}${rest > 0 ? ` ${rest} ${small}` : ''}`;
}
