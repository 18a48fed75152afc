import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** By then a page has its title, or has said why not. */
const LONGEST_MS = 10_000;
const TOUCHES = ['keydown', 'pointerdown'] as const;

/** Whoever comes to another page is told its title: the focus goes there, unless the page has given it away. */
export function useArrival(onArrive: () => void): void {
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const before = useRef(pathname);
  const arrive = useRef(onArrive);
  arrive.current = onArrive;
  useEffect(() => {
    const isOther = before.current !== undefined && before.current !== pathname;
    before.current = pathname;
    if (!isOther) return;
    arrive.current();
    return keepOnTitle();
  }, [pathname]);
}

/** Holds the focus on the title, which comes with what the page shows, until somebody does something. */
function keepOnTitle(): () => void {
  const focus = () => {
    const isLost = document.activeElement === null || document.activeElement.closest('main') === null;
    if (isLost) document.querySelector<HTMLElement>('main h1')?.focus();
  };
  const changes = new MutationObserver(() => {
    // Only what has gone with another title comes back: a dialog in front has the focus for itself.
    if (document.activeElement === document.body) focus();
  });
  const stop = () => {
    clearTimeout(timer);
    changes.disconnect();
    for (const touch of TOUCHES) window.removeEventListener(touch, stop);
  };
  const timer = setTimeout(stop, LONGEST_MS);
  for (const touch of TOUCHES) window.addEventListener(touch, stop);
  focus();
  const main = document.querySelector('main');
  if (main) changes.observe(main, { childList: true, subtree: true });
  return stop;
}
