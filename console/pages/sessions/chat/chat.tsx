import { ArrowDown } from 'lucide-react';
import { type Dispatch, type SetStateAction, useLayoutEffect, useRef } from 'react';
import type { Session } from '../../../gen/index.ts';
import { itemShowing } from '../../../journal/event-target.ts';
import type { JournalView } from '../../../journal/view.ts';
import { Button } from '../../../ui/button.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { ActivityLine } from '../activity-line.tsx';
import { LoadMoreButton } from '../load-more-button.tsx';
import type { Attachments } from './attachments/use-attachments.ts';
import { Composer } from './composer.tsx';
import { ConversationItem } from './conversation-item.tsx';
import { LazyMessageQueue } from './lazy-message-queue.tsx';
import { LinkedEventNotice } from './linked-event-notice.tsx';
import { useChatScroll } from './use-chat-scroll.ts';
import { useScrollToEvent } from './use-scroll-to-event.ts';

export interface ChatProps {
  session: Session;
  view: JournalView;
  activity: string | undefined;
  mayWrite: boolean;
  /** Sequence number of the linked event. */
  event: number | undefined;
  onEvent: (event?: number) => void;
  onEarlier: () => void;
  onLater: () => void;
  /** Text of the unsent message. */
  draft: string;
  onDraft: Dispatch<SetStateAction<string>>;
  attachments: Attachments;
  /** Opens an event in the raw view. */
  onRaw: (event: number) => void;
}

/** The conversation view of a session, including tool calls and file changes. */
export function Chat(props: ChatProps) {
  const { session, view, activity, mayWrite, event, onEvent, onEarlier, onLater, onRaw } = props;
  const { excerpt, linked } = view;
  const section = excerpt ?? view;
  const { chat } = section;
  // The newest messages are not shown for the moment in which those of the linked event load.
  const isOpening = event !== undefined && (linked?.seq !== event || linked.state === 'loading');
  const target = linked?.state === 'loaded' && !isOpening ? itemShowing(chat, linked.event) : undefined;
  const box = useRef<HTMLElement>(null);
  const { isHeld, release } = useScrollToEvent({ box, event, itemSeq: target?.seq });
  const scroll = useChatScroll({
    box,
    chat,
    section,
    onEarlier,
    onLater,
    isHeld,
    opensAtEvent: event !== undefined,
  });
  const { toEnd } = scroll;
  const isNotShown = linked?.state === 'missing' || linked?.state === 'failed';
  useLayoutEffect(() => {
    if (isNotShown) toEnd();
  }, [isNotShown, toEnd]);
  function showLatest(): void {
    release();
    if (event !== undefined) onEvent(undefined);
    toEnd();
  }
  const actions = { session, mayWrite, onRaw };
  return (
    <>
      <div className="relative min-h-0 flex-1">
        <h2 className="sr-only">Conversation</h2>
        <section
          ref={box}
          onScroll={scroll.onScroll}
          aria-label="Conversation"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be reachable by keyboard
          tabIndex={0}
          className="h-full overflow-y-auto px-4 pt-4 [overflow-anchor:none] sm:px-8"
        >
          <div className="mx-auto flex max-w-3xl flex-col gap-4 pb-4">
            {isOpening && <Skeleton lines={8} label={`Loading event ${event}`} />}
            {!isOpening && section.hasEarlier && (
              <LoadMoreButton
                isLoading={section.isLoadingEarlier}
                error={section.earlierError}
                onLoad={onEarlier}
              >
                Load earlier messages
              </LoadMoreButton>
            )}
            {!isOpening && chat.length === 0 && view.streamStatus !== 'opening' && (
              <p className="py-16 text-center text-muted">No messages yet.</p>
            )}
            {!isOpening &&
              chat.map((item) => (
                <ConversationItem
                  key={item.key}
                  item={item}
                  isTarget={item.key === target?.key}
                  {...actions}
                />
              ))}
            {!isOpening && excerpt && (
              <LoadMoreButton isLoading={excerpt.isLoadingLater} error={excerpt.laterError} onLoad={onLater}>
                Load later messages
              </LoadMoreButton>
            )}
          </div>
        </section>
        {!scroll.isAtEnd && !isOpening && (
          <Button
            small
            onClick={showLatest}
            className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-float"
          >
            <ArrowDown aria-hidden />
            Jump to latest
          </Button>
        )}
      </div>
      <ActivityLine text={activity} />
      <LinkedEventNotice linked={linked} />
      {mayWrite ? (
        <Composer
          session={session}
          text={props.draft}
          onText={props.onDraft}
          attachments={props.attachments}
          onSent={showLatest}
        />
      ) : (
        <div className="px-4 sm:px-8">
          <LazyMessageQueue session={session} />
        </div>
      )}
    </>
  );
}
