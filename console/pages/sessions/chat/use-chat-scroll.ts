import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from 'react';
import type { ChatItem } from '../../../journal/chat.ts';
import type { Excerpt, LoadedSection } from '../../../journal/view.ts';

/** Within this distance the view counts as scrolled to the end. */
const END_MARGIN_PX = 60;
/** Within this distance from an end of the loaded messages, more are loaded. */
const LOAD_MARGIN_PX = 400;

interface ScrollOptions {
  box: RefObject<HTMLElement | null>;
  chat: readonly ChatItem[];
  /** The loaded events. An excerpt has further events after its end. */
  section: LoadedSection | Excerpt;
  onEarlier: () => void;
  onLater: () => void;
  /** True while a linked event is kept in view. */
  isHeld: RefObject<boolean>;
  /** The view opens at a linked event instead of the end. */
  opensAtEvent: boolean;
}

/**
 * Keeps the scroll position of a conversation: at the end if it was there, otherwise at the visible messages, even when
 * earlier messages are inserted above.
 */
export function useChatScroll({
  box,
  chat,
  section,
  onEarlier,
  onLater,
  isHeld,
  opensAtEvent,
}: ScrollOptions) {
  const [isAtEnd, setAtEnd] = useState(!opensAtEvent);
  const wasAtEnd = useRef(!opensAtEvent);
  const before = useRef({ first: undefined as string | undefined, fromEnd: 0 });
  const first = chat[0]?.key;
  const { hasEarlier, isLoadingEarlier } = section;
  const isExcerpt = 'isLoadingLater' in section;
  const isLoadingLater = isExcerpt && section.isLoadingLater;

  // biome-ignore lint/correctness/useExhaustiveDependencies: every rendered change can move the content
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (!isHeld.current) {
      if (wasAtEnd.current) element.scrollTop = element.scrollHeight;
      else if (before.current.first !== first && before.current.first !== undefined)
        element.scrollTop = element.scrollHeight - before.current.fromEnd;
    }
    before.current = { first, fromEnd: element.scrollHeight - element.scrollTop };
  }, [chat, first]);

  // Late Markdown rendering and window resizing change heights without new items.
  useLayoutEffect(() => {
    const element = box.current;
    const content = element?.firstElementChild;
    if (!element || !content) return;
    const observer = new ResizeObserver(() => {
      if (wasAtEnd.current && !isHeld.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(content);
    observer.observe(element);
    return () => observer.disconnect();
  }, [box, isHeld]);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const fromEnd = element.scrollHeight - element.scrollTop;
    const untilEnd = fromEnd - element.clientHeight;
    before.current.fromEnd = fromEnd;
    wasAtEnd.current = untilEnd < END_MARGIN_PX && !isExcerpt;
    setAtEnd(wasAtEnd.current);
    if (element.scrollTop < LOAD_MARGIN_PX && hasEarlier && !isLoadingEarlier) onEarlier();
    if (untilEnd < LOAD_MARGIN_PX && isExcerpt && !isLoadingLater) onLater();
  }, [box, hasEarlier, isLoadingEarlier, isExcerpt, isLoadingLater, onEarlier, onLater]);

  const toEnd = useCallback(() => {
    wasAtEnd.current = true;
    setAtEnd(true);
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, [box]);

  return { onScroll, isAtEnd, toEnd };
}
