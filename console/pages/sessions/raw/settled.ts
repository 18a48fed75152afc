import { useEffect, useRef, useState } from 'react';

const EVERY_MS = 400;

/** A number that grows many times a second, told a few times. */
export function useSettled(value: number): number {
  const [told, setTold] = useState(value);
  const newest = useRef(value);
  newest.current = value;
  const isBehind = value !== told;
  useEffect(() => {
    if (!isBehind) return;
    const timer = setTimeout(() => setTold(newest.current), EVERY_MS);
    return () => clearTimeout(timer);
  }, [isBehind]);
  return told;
}
