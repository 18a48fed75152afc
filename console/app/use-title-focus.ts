import { useRouterState } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

/** Maximum time in which a page renders its title or an error. */
const HOLD_MS = 10_000;
const INPUT_EVENTS = ['keydown', 'pointerdown'] as const;

/** Focuses the title after a navigation so that screen readers announce it, unless the page has set the focus itself. */
export function useTitleFocus(onNavigate: () => void): void {
  const pathname = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname });
  const before = useRef(pathname);
  const callback = useRef(onNavigate);
  callback.current = onNavigate;
  useEffect(() => {
    const isOther = before.current !== undefined && before.current !== pathname;
    before.current = pathname;
    if (!isOther) return;
    callback.current();
    return holdTitleFocus();
  }, [pathname]);
}

/** Keeps the focus on the title while the page loads, until the first user input. */
function holdTitleFocus(): () => void {
  const focus = () => {
    const isOutsidePage = document.activeElement === null || document.activeElement.closest('main') === null;
    if (isOutsidePage) document.querySelector<HTMLElement>('main h1')?.focus();
  };
  const changes = new MutationObserver(() => {
    // Refocus only when a replaced title has lost the focus. An open dialog keeps its focus.
    if (document.activeElement === document.body) focus();
  });
  const stop = () => {
    clearTimeout(timer);
    changes.disconnect();
    for (const touch of INPUT_EVENTS) window.removeEventListener(touch, stop);
  };
  const timer = setTimeout(stop, HOLD_MS);
  for (const touch of INPUT_EVENTS) window.addEventListener(touch, stop);
  focus();
  const main = document.querySelector('main');
  if (main) changes.observe(main, { childList: true, subtree: true });
  return stop;
}
