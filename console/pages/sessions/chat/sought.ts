import { type RefObject, useEffect, useRef } from 'react';
import type { ChatItem } from '../../../journal/chat.ts';
import type { JournalView } from '../../../journal/view.ts';

/** So many pages are read to find an event; beyond them the raw view is the better place. */
const PAGES = 5;

interface SoughtOptions {
  chat: readonly ChatItem[];
  view: JournalView;
  event: number | undefined;
  onEarlier: () => void;
  box: RefObject<HTMLElement | null>;
}

/** Brings the event that a link leads to into sight. `far`: it is too far back. */
export function useSought({ chat, view, event, onEarlier, box }: SoughtOptions): 'none' | 'there' | 'far' {
  const pages = useRef(0);
  const shown = useRef<number>(undefined);
  const oldest = view.events[0]?.seq ?? 1;
  const isBefore = event !== undefined && event < oldest && view.hasEarlier;
  const isThere = event !== undefined && !isBefore;
  useEffect(() => {
    if (!isBefore || view.isLoadingEarlier || pages.current >= PAGES) return;
    pages.current++;
    onEarlier();
  }, [isBefore, view.isLoadingEarlier, onEarlier]);
  useEffect(() => {
    if (!isThere || shown.current === event || chat.length === 0) return;
    shown.current = event;
    // What is no message of its own stands in the one before it.
    const item = chat.find(({ seq }) => seq === event) ?? chat.findLast(({ seq }) => seq <= event) ?? chat[0];
    box.current?.querySelector(`[data-seq="${item?.seq}"]`)?.scrollIntoView({ block: 'center' });
  }, [isThere, event, chat, box]);
  if (event === undefined) return 'none';
  return isBefore && pages.current >= PAGES ? 'far' : 'there';
}
