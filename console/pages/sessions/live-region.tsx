import { useEffect, useRef, useState } from 'react';
import type { ChatItem } from '../../journal/chat.ts';
import { compactionText } from '../../journal/compaction-text.ts';
import type { JournalView } from '../../journal/view.ts';

/** Maximum length of an announcement. The full text is in the conversation. */
const MAX_CHARS = 600;
/** The text is removed after this time, so that it is not on the page twice. */
const KEPT_MS = 10_000;

export interface LiveRegionProps {
  view: JournalView;
  chat: readonly ChatItem[];
  /** Current activity, when the view does not show it. */
  activity: string | undefined;
}

/** Announces new events of a session to screen readers, in every view. */
export function LiveRegion({ view, chat, activity }: LiveRegionProps) {
  const announcement = useAnnouncements(view, chat);
  return (
    <div className="sr-only">
      <p role="status">{announcement}</p>
      <p role="status">{activity}</p>
    </div>
  );
}

/**
 * Returns the announcement for events after the page was opened: each completed message, and the end of a turn that has no
 * message.
 */
function useAnnouncements({ streamStatus: link, lastSeq }: JournalView, chat: readonly ChatItem[]): string {
  const [text, setText] = useState('');
  const announcedSeq = useRef<number>(undefined);
  useEffect(() => {
    if (announcedSeq.current === undefined && link !== 'live') return;
    const before = announcedSeq.current ?? lastSeq;
    announcedSeq.current = lastSeq;
    const texts = chat.flatMap((item) => (item.seq > before ? announcementsOf(item) : []));
    if (texts.length > 0) setText(texts.join(' '));
  }, [link, lastSeq, chat]);
  useEffect(() => {
    if (text === '') return;
    const timer = setTimeout(() => setText(''), KEPT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text;
}

function announcementsOf(item: ChatItem): string[] {
  if (item.kind === 'agent' && !item.isDraft && item.text.trim() !== '')
    return [`Agent: ${truncate(withoutMarkdown(item.text))}`];
  if (item.kind === 'notice') return [item.text];
  if (item.kind === 'compaction') return [`${compactionText(item.data)}.`];
  if (item.kind === 'end' && item.compaction === 'unchanged' && item.outcome === 'completed')
    return ['Nothing was shortened.'];
  // Completed turns end with a message, interrupted ones with a notice.
  if (item.kind !== 'end' || (item.outcome !== 'failed' && item.outcome !== 'cancelled')) return [];
  return [`Turn ${item.outcome}.`, ...(item.error ? [item.error.message] : [])];
}

/** Removes Markdown syntax, which screen readers would read out. */
function withoutMarkdown(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*(.+?)\*\*/g, '$1')
    .replace(/^(#+|>|```.*$|[|\s:-]+$)/gm, '')
    .replace(/[`|]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

const truncate = (text: string) => (text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text);
