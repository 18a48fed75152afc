import { type RefObject, useCallback, useLayoutEffect, useRef } from 'react';

/** The layout has settled when no height has changed for this time. */
const SETTLED_MS = 1_500;
/** Distance between the box and an item that is higher than the box. */
const MARGIN_PX = 16;
/** With these events the user takes over the scroll position. */
const USER_EVENTS = ['wheel', 'touchmove', 'pointerdown', 'keydown'] as const;

interface ScrollToEventOptions {
  /** Scrolled element. Its first child has the items. */
  box: RefObject<HTMLElement | null>;
  /** Seq of the linked event; undefined without one. */
  event: number | undefined;
  /** Seq of the item that shows the linked event; undefined until it has loaded. */
  itemSeq: number | undefined;
}

export interface HeldPosition {
  /** True while the linked event is kept in view. */
  isHeld: RefObject<boolean>;
  release: () => void;
}

/**
 * Scrolls to the item of the linked event and keeps it in view until the layout has settled or the user scrolls: items are
 * rendered, and get their height, only when they come near the viewport.
 */
export function useScrollToEvent({ box, event, itemSeq }: ScrollToEventOptions): HeldPosition {
  const isHeld = useRef(false);
  const releaseCurrent = useRef(() => {});
  useLayoutEffect(() => {
    const element = box.current;
    const content = element?.firstElementChild;
    if (!element || !content || event === undefined || itemSeq === undefined) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const hold = () => {
      centre(element, itemSeq);
      clearTimeout(timer);
      timer = setTimeout(release, SETTLED_MS);
    };
    const observer = new ResizeObserver(hold);
    const release = () => {
      isHeld.current = false;
      clearTimeout(timer);
      observer.disconnect();
      for (const type of USER_EVENTS) element.removeEventListener(type, release);
    };
    isHeld.current = true;
    releaseCurrent.current = release;
    observer.observe(content);
    observer.observe(element);
    for (const type of USER_EVENTS) element.addEventListener(type, release, { passive: true });
    hold();
    return release;
  }, [box, event, itemSeq]);
  const release = useCallback(() => releaseCurrent.current(), []);
  return { isHeld, release };
}

/** Scrolls an item to the centre of the box; an item that is higher than the box to its top. */
function centre(box: HTMLElement, seq: number): void {
  const item = box.querySelector(`[data-seq="${seq}"]`);
  if (!item) return;
  const { top, height } = item.getBoundingClientRect();
  const space = box.clientHeight - height;
  const offset = space > 2 * MARGIN_PX ? space / 2 : MARGIN_PX;
  box.scrollTop += top - box.getBoundingClientRect().top - offset;
}
