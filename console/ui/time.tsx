import { useEffect, useState } from 'react';
import { Tooltip } from './tooltip.tsx';

const UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const NOW_SECONDS = 10;
const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** How long ago, or how long from now. */
export function relativeTime(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1_000;
  if (Math.abs(seconds) < NOW_SECONDS) return 'just now';
  for (const [unit, size] of UNITS)
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  return format.format(Math.trunc(seconds), 'second');
}

/** One clock for everything that is shown. */
const listeners = new Set<() => void>();
const TICK_MS = 10_000;
setInterval(() => {
  for (const listener of listeners) listener();
}, TICK_MS);

function useNow(): Date {
  const [now, setNow] = useState(() => new Date());
  useEffect(() => {
    const tick = () => setNow(new Date());
    listeners.add(tick);
    return () => void listeners.delete(tick);
  }, []);
  return now;
}

/** A moment, as the distance from now; exact, in UTC, on hover and focus. */
export function Time({ at }: { at: string }) {
  const now = useNow();
  const exact = `${at.replace('T', ' ').replace('Z', '')} UTC`;
  return (
    <Tooltip text={exact}>
      <time
        dateTime={at}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the exact time is there for a keyboard, too
        tabIndex={0}
        aria-description={exact}
        className="rounded whitespace-nowrap tabular-nums"
      >
        {relativeTime(new Date(at), now)}
      </time>
    </Tooltip>
  );
}
