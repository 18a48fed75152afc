import { ArrowDown } from 'lucide-react';
import type { Session } from '../../../gen/index.ts';
import type { ChatItem } from '../../../journal/chat.ts';
import type { JournalView } from '../../../journal/view.ts';
import { Button } from '../../../ui/button.tsx';
import { Earlier } from '../earlier.tsx';
import { WaitingLine } from '../waiting-line.tsx';
import { Composer } from './composer.tsx';
import { Item } from './item.tsx';
import { useScroll } from './scroll.ts';
import { useSought } from './sought.ts';

export interface ChatProps {
  session: Session;
  view: JournalView;
  chat: readonly ChatItem[];
  waiting: string | undefined;
  mayWrite: boolean;
  /** The seq of the event that a link leads to. */
  event: number | undefined;
  onEarlier: () => void;
  /** What is being written, and not sent. */
  draft: string;
  onDraft: (draft: string) => void;
  /** Shows an event among all others. */
  onRaw: (event: number) => void;
}

/** A session as a conversation, with what the agent did in between. */
export function Chat(props: ChatProps) {
  const { session, view, chat, waiting, mayWrite, event, onEarlier, draft, onDraft, onRaw } = props;
  const scroll = useScroll({ chat, view, onEarlier, isHeld: event !== undefined });
  const sought = useSought({ chat, view, event, onEarlier, box: scroll.box });
  const actions = { session, mayWrite, onRaw };
  return (
    <>
      <div className="relative min-h-0 flex-1">
        <section
          ref={scroll.box}
          onScroll={scroll.onScroll}
          aria-label="Conversation"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
          tabIndex={0}
          className="h-full overflow-y-auto px-4 pt-4 [overflow-anchor:none] sm:px-8"
        >
          <div className="mx-auto flex max-w-3xl flex-col gap-4 pb-4">
            <Earlier view={view} onEarlier={onEarlier}>
              Show what came before
            </Earlier>
            {sought === 'far' && event !== undefined && (
              <p role="alert" className="rounded-lg bg-warn-soft px-3 py-2 text-warn">
                Event {event} is further back.{' '}
                <button type="button" className="font-medium underline" onClick={() => onRaw(event)}>
                  Show it among all events
                </button>
              </p>
            )}
            {chat.length === 0 && view.link !== 'opening' && (
              <p className="py-16 text-center text-muted">Nothing has been said yet.</p>
            )}
            {chat.map((item) => (
              <Item key={item.key} item={item} isSought={item.seq === event} {...actions} />
            ))}
          </div>
        </section>
        {!scroll.isAtEnd && (
          <Button
            small
            onClick={scroll.toEnd}
            className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-float"
          >
            <ArrowDown aria-hidden />
            To the newest
          </Button>
        )}
      </div>
      <WaitingLine text={waiting} />
      {mayWrite && <Composer session={session} text={draft} onText={onDraft} onSent={scroll.toEnd} />}
    </>
  );
}
