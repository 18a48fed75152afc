import { useEffect, useLayoutEffect, useRef, useState } from 'react';

/** An update that takes longer than this, in milliseconds, delays the next one. */
const CHEAP_MS = 8;
/** The time between expensive updates, as a multiple of the time that one takes. */
const PAUSE_FACTOR = 4;

/**
 * Returns a growing text, with a pause after each update that was expensive to render. One long block, such as a list of
 * a thousand items, is parsed as a whole at each update, and the page stays responsive between the updates.
 */
export function useSteadyText(text: string, isStreaming: boolean): string {
  const [shown, setShown] = useState(text);
  const nextAt = useRef(0);
  const startedAt = performance.now();
  const current = isStreaming ? shown : text;
  // Runs after the text was rendered.
  // biome-ignore lint/correctness/useExhaustiveDependencies: measures the rendering of each shown text
  useLayoutEffect(() => {
    const spent = performance.now() - startedAt;
    nextAt.current = performance.now() + (spent > CHEAP_MS ? spent * PAUSE_FACTOR : 0);
  }, [current]);
  useEffect(() => {
    if (!isStreaming || text === shown) return;
    const wait = nextAt.current - performance.now();
    if (wait <= 0) {
      setShown(text);
      return;
    }
    const timer = setTimeout(() => setShown(text), wait);
    return () => clearTimeout(timer);
  }, [text, shown, isStreaming]);
  return current;
}
