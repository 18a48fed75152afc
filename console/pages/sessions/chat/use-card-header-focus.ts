import { useLayoutEffect, useRef } from 'react';

/** When the form disappears while it has the focus, the focus moves to the header of the card. */
export function useCardHeaderFocus() {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const form = box.current;
    const head = form?.closest('article')?.querySelector<HTMLElement>('button[aria-expanded]');
    return () => {
      if (!form?.contains(document.activeElement)) return;
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) head?.focus();
      });
    };
  }, []);
  return box;
}
