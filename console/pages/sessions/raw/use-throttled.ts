import { useEffect, useRef, useState } from 'react';

const INTERVAL_MS = 400;

/** Returns a value that changes at most once per INTERVAL_MS. */
export function useThrottled(value: number): number {
  const [throttled, setThrottled] = useState(value);
  const newest = useRef(value);
  newest.current = value;
  const isBehind = value !== throttled;
  useEffect(() => {
    if (!isBehind) return;
    const timer = setTimeout(() => setThrottled(newest.current), INTERVAL_MS);
    return () => clearTimeout(timer);
  }, [isBehind]);
  return throttled;
}
