import { useEffect, useState } from 'react';
import { Tooltip } from './tooltip.tsx';

const UNITS: readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ['year', 31_557_600],
  ['month', 2_629_800],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
const JUST_NOW_SECONDS = 10;
const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** Formats a time relative to now. */
export function relativeTime(at: Date, now: Date): string {
  const seconds = (at.getTime() - now.getTime()) / 1_000;
  if (Math.abs(seconds) < JUST_NOW_SECONDS) return 'just now';
  for (const [unit, size] of UNITS)
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  return format.format(Math.trunc(seconds), 'second');
}

/** All Time components share one timer. */
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

/** A relative time with the exact UTC time as tooltip. */
export function Time({ at }: { at: string }) {
  const now = useNow();
  const exact = `${at.replace('T', ' ').replace('Z', '')} UTC`;
  return (
    <Tooltip text={exact}>
      <time
        dateTime={at}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the exact time must be reachable by keyboard
        tabIndex={0}
        aria-description={exact}
        className="rounded whitespace-nowrap tabular-nums"
      >
        {relativeTime(new Date(at), now)}
      </time>
    </Tooltip>
  );
}
