import { useEffect } from 'react';

/** By then whoever gives the focus back has done so: a dialog that goes, or what comes instead. */
const GRACE_MS = 150;

/** When what had the focus goes or is disabled, whoever is there goes on beside it, or at the title, and not at the beginning of all. */
export function useKeptFocus(): void {
  useEffect(() => {
    let path: Element[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const remember = ({ target }: FocusEvent) => {
      path = pathTo(target);
    };
    // Who points elsewhere has left it.
    const forget = () => {
      path = [];
    };
    const hasGone = () => path[0] !== undefined && !canHave(path[0]);
    const changes = new MutationObserver(() => {
      if (timer !== undefined || !hasGone()) return;
      timer = setTimeout(() => {
        timer = undefined;
        if (hasGone() && document.activeElement === document.body)
          placeFor(path)?.focus({ preventScroll: true });
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

/** Unless it has gone, or cannot be pressed any more. */
const canHave = (element: Element) => element.isConnected && !element.matches(':disabled');

function pathTo(target: EventTarget | null): Element[] {
  const path: Element[] = [];
  for (let at = target instanceof Element ? target : null; at; at = at.parentElement) path.push(at);
  return path;
}

/** The nearest thing around it that is still there and can have the focus. The whole page is its title. */
function placeFor(path: readonly Element[]): HTMLElement | null {
  const around = path.find((element) => canHave(element) && element.hasAttribute('tabindex'));
  if (around instanceof HTMLElement && around.localName !== 'main') return around;
  return document.querySelector<HTMLElement>('main h1');
}
