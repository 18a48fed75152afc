import { useEffect, useRef, useState } from 'react';
import type { ChatItem } from '../../journal/chat.ts';
import type { JournalView } from '../../journal/view.ts';

/** Whoever wants to hear all of it goes there. */
const MOST_CHARS = 600;
/** By then it is being said; left there, it would stand on the page twice. */
const KEPT_MS = 10_000;

export interface SpokenProps {
  view: JournalView;
  chat: readonly ChatItem[];
  /** What the session waits for, where no line on the page says it. */
  waiting: string | undefined;
}

/** Says what happens in a session, whichever view of it is looked at. */
export function Spoken({ view, chat, waiting }: SpokenProps) {
  const news = useSpoken(view, chat);
  return (
    <div className="sr-only">
      <p role="status">{news}</p>
      <p role="status">{waiting}</p>
    </div>
  );
}

/**
 * What has come into a conversation since it was opened, for those who hear it: each message once it is whole, and what ends a
 * turn otherwise than with one.
 */
function useSpoken({ link, lastSeq }: JournalView, chat: readonly ChatItem[]): string {
  const [text, setText] = useState('');
  const heard = useRef<number>(undefined);
  useEffect(() => {
    if (heard.current === undefined && link !== 'live') return;
    const before = heard.current ?? lastSeq;
    heard.current = lastSeq;
    const words = chat.flatMap((item) => (item.seq > before ? wordsOf(item) : []));
    if (words.length > 0) setText(words.join(' '));
  }, [link, lastSeq, chat]);
  useEffect(() => {
    if (text === '') return;
    const timer = setTimeout(() => setText(''), KEPT_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return text;
}

function wordsOf(item: ChatItem): string[] {
  if (item.kind === 'agent' && !item.isDraft && item.text.trim() !== '')
    return [`Agent: ${cut(plain(item.text))}`];
  if (item.kind === 'notice') return [item.text];
  // What completes a turn has been said; who interrupts one is a notice.
  if (item.kind !== 'end' || (item.outcome !== 'failed' && item.outcome !== 'cancelled')) return [];
  return [`Turn ${item.outcome}.`, ...(item.error ? [item.error.message] : [])];
}

/** Without the marks of Markdown, which would be read out. */
function plain(text: string): string {
  return text
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\*\*(.+?)\*\*/g, '$1')
    .replace(/^(#+|>|```.*$|[|\s:-]+$)/gm, '')
    .replace(/[`|]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

const cut = (text: string) => (text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text);
