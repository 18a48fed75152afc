import { useEffect } from 'react';

/** Time for a closing dialog or a replacement element to set the focus itself. */
const GRACE_MS = 150;

/**
 * When the focused element is removed or disabled, focuses its nearest focusable ancestor or the title. Otherwise the browser
 * would continue at the start of the document.
 */
export function useFocusRecovery(): void {
  useEffect(() => {
    let path: Element[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const remember = ({ target }: FocusEvent) => {
      path = ancestorsOf(target);
    };
    // A click elsewhere ends the recovery for the previous element.
    const forget = () => {
      path = [];
    };
    const isLost = () => path[0] !== undefined && !isFocusable(path[0]);
    const changes = new MutationObserver(() => {
      if (timer !== undefined || !isLost()) return;
      timer = setTimeout(() => {
        timer = undefined;
        if (isLost() && document.activeElement === document.body)
          focusTargetFor(path)?.focus({ preventScroll: true });
      }, GRACE_MS);
    });
    document.addEventListener('focusin', remember);
    document.addEventListener('pointerdown', forget, true);
    changes.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
    return () => {
      clearTimeout(timer);
      changes.disconnect();
      document.removeEventListener('focusin', remember);
      document.removeEventListener('pointerdown', forget, true);
    };
  }, []);
}

/** Whether the element is in the document and enabled. */
const isFocusable = (element: Element) => element.isConnected && !element.matches(':disabled');

function ancestorsOf(target: EventTarget | null): Element[] {
  const path: Element[] = [];
  for (let at = target instanceof Element ? target : null; at; at = at.parentElement) path.push(at);
  return path;
}

/** Returns the nearest focusable ancestor. For the `main` element it returns the title. */
function focusTargetFor(path: readonly Element[]): HTMLElement | null {
  const ancestor = path.find((element) => isFocusable(element) && element.hasAttribute('tabindex'));
  if (ancestor instanceof HTMLElement && ancestor.localName !== 'main') return ancestor;
  return document.querySelector<HTMLElement>('main h1');
}
