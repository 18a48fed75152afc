import { useCallback, useLayoutEffect, useRef, useState } from 'react';
import type { ChatItem } from '../../../journal/chat.ts';
import type { JournalView } from '../../../journal/view.ts';

/** Nearer to the end than this is at the end. */
const NEAR_PX = 60;
/** So near to the beginning, older ones are asked for. */
const EARLIER_PX = 400;

interface ScrollOptions {
  chat: readonly ChatItem[];
  view: JournalView;
  onEarlier: () => void;
  /** Somebody looks at something in particular: what comes new moves nothing. */
  isHeld: boolean;
}

/**
 * Keeps a conversation where whoever reads it wants it: at its end as long as they were there, and otherwise where they
 * are, also when older messages come in above.
 */
export function useScroll({ chat, view, onEarlier, isHeld }: ScrollOptions) {
  const box = useRef<HTMLElement>(null);
  const [isAtEnd, setAtEnd] = useState(true);
  const wasAtEnd = useRef(!isHeld);
  const before = useRef({ first: undefined as string | undefined, fromEnd: 0 });
  const first = chat[0]?.key;

  // biome-ignore lint/correctness/useExhaustiveDependencies: whatever is shown anew may have moved it
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (wasAtEnd.current) element.scrollTop = element.scrollHeight;
    else if (before.current.first !== first && before.current.first !== undefined)
      element.scrollTop = element.scrollHeight - before.current.fromEnd;
    before.current = { first, fromEnd: element.scrollHeight - element.scrollTop };
  }, [chat, first]);

  // Markdown that is drawn later and a window of another size change heights without anything new.
  useLayoutEffect(() => {
    const element = box.current;
    const content = element?.firstElementChild;
    if (!element || !content) return;
    const observer = new ResizeObserver(() => {
      if (wasAtEnd.current) element.scrollTop = element.scrollHeight;
    });
    observer.observe(content);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const onScroll = useCallback(() => {
    const element = box.current;
    if (!element) return;
    const fromEnd = element.scrollHeight - element.scrollTop;
    before.current.fromEnd = fromEnd;
    wasAtEnd.current = fromEnd - element.clientHeight < NEAR_PX;
    setAtEnd(wasAtEnd.current);
    if (element.scrollTop < EARLIER_PX && view.hasEarlier && !view.isLoadingEarlier) onEarlier();
  }, [view.hasEarlier, view.isLoadingEarlier, onEarlier]);

  const toEnd = useCallback(() => {
    wasAtEnd.current = true;
    setAtEnd(true);
    const element = box.current;
    if (element) element.scrollTop = element.scrollHeight;
  }, []);

  return { box, onScroll, isAtEnd, toEnd };
}
