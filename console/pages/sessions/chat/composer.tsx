import { useMutation } from '@tanstack/react-query';
import { ChevronDown, OctagonX, Pin, SendHorizontal } from 'lucide-react';
import {
  type ClipboardEvent,
  type Dispatch,
  type FormEvent,
  type KeyboardEvent,
  lazy,
  type SetStateAction,
  Suspense,
  useId,
  useRef,
  useState,
} from 'react';
import type { QueuedMessage } from '../../../api/queue.ts';
import { isStoppable } from '../../../api/session-state.ts';
import { type OutgoingMessage, STOP, sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import { useIdempotencyKeys } from '../../../parts/actions/idempotency-key.ts';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { useLeaveWarning } from '../../../parts/navigation/leave-warning.ts';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import { useShortcut } from '../../../parts/navigation/shortcuts.ts';
import { useStop } from '../../../parts/sessions/use-stop.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { classes } from '../../../ui/classes.ts';
import { Menu, MenuItem } from '../../../ui/menu.tsx';
import { copyText } from '../../../ui/toast.tsx';
import { AttachMenu } from './attachments/attach-menu.tsx';
import { type Attachment, contentOf, isReady } from './attachments/attachment.ts';
import type { Attachments } from './attachments/use-attachments.ts';
import { useFileDrop } from './attachments/use-file-drop.ts';
import { sendingKey } from './composer-keys.ts';
import { LazyMessageQueue } from './lazy-message-queue.tsx';

const AttachmentList = lazy(async () => ({
  default: (await loadChunk(() => import('./attachments/attachment-list.tsx'))).AttachmentList,
}));

export interface ComposerProps {
  session: Session;
  text: string;
  onText: Dispatch<SetStateAction<string>>;
  attachments: Attachments;
  onSent: () => void;
}

const MAX_ROWS = 8;

interface Sending {
  message: OutgoingMessage;
  /** The text and the attachments of the message, which leave the composer when it is sent. */
  text: string;
  items: readonly Attachment[];
}

/**
 * Message input with the queue above it. During a turn, messages are queued, steer the turn or interrupt it. Behind a held queue they
 * wait.
 */
export function Composer({ session, text, onText, attachments, onSent }: ComposerProps) {
  const keys = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const [isPinned, setPinned] = useState(false);
  const { keyFor, renew } = useIdempotencyKeys();
  const curlOf = useCurl();
  const sending = useMutation({
    mutationFn: ({ message }: Sending) => sessions.send(session.session_id, message),
    onSuccess: (_, { text: sent, items }) => {
      // Keeps text that was typed while the message was being sent.
      onText((newest) => (newest.startsWith(sent) ? newest.slice(sent.length) : newest));
      attachments.removeSent(items);
      setPinned(false);
      renew();
      onSent();
      field.current?.focus();
    },
  });
  const focus = () => field.current?.focus();
  // The Stop button disappears with the turn.
  const { stop, isStopping } = useStop(focus);
  const { items } = attachments;
  useLeaveWarning(text.trim() !== '' || items.length > 0);
  const drop = useFileDrop(attachments.addFiles);
  useShortcut('c', 'Write a message', focus);

  const isRunning = isStoppable(session);
  const isQueueing = isRunning || session.queue_held;
  const isEmpty = text.trim() === '' && items.length === 0;
  const isUploading = !items.every(isReady);
  const isSendable = !isEmpty && !isUploading;
  const send = (busyPolicy: OutgoingMessage['busyPolicy'] = 'enqueue') => {
    if (isSendable && !sending.isPending) {
      const message = { content: contentOf(text, items), busyPolicy, pinned: isPinned };
      sending.mutate({ message: { ...message, key: keyFor(message) }, text, items });
    }
  };
  const onPaste = (event: ClipboardEvent) => {
    const files = Array.from(event.clipboardData.files);
    if (files.length === 0) return;
    event.preventDefault();
    attachments.addFiles(files);
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const busyPolicy = sendingKey(event, isRunning);
    if (!busyPolicy) return;
    event.preventDefault();
    send(busyPolicy);
  };
  const edit = ({ text: removed, isPinned: wasPinned }: QueuedMessage) => {
    if (wasPinned) setPinned(true);
    // Keeps text that was typed before.
    onText((newest) => [removed, newest].filter((part) => part.trim() !== '').join('\n\n'));
    focus();
  };
  const copy = (what: 'messages' | 'interrupt', body: object) => {
    const path = `/sessions/${session.session_id}/${what}`;
    void copyText(curlOf({ method: 'POST', path, body }));
  };
  const rows = Math.min(MAX_ROWS, text.split('\n').length);
  return (
    <form onSubmit={onSubmit} className="px-4 pb-4 sm:px-8">
      <LazyMessageQueue session={session} editor={{ onEdit: edit, onFocusLost: focus }} />
      <div
        {...drop.handlers}
        className={classes(
          'mx-auto max-w-3xl rounded-2xl border bg-surface p-2 shadow-sm focus-within:border-accent',
          drop.isTarget ? 'border-accent outline-2 outline-accent outline-dashed' : 'border-line',
        )}
      >
        {items.length > 0 && (
          <Suspense>
            <AttachmentList attachments={attachments} onFocusLost={focus} />
          </Suspense>
        )}
        <textarea
          ref={field}
          aria-label="Message"
          placeholder={isQueueing ? 'Write the next message' : 'Write a message'}
          dir="auto"
          rows={rows}
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
          aria-describedby={keys}
          className="w-full resize-none bg-transparent px-2 py-1 outline-none"
        />
        <div className="flex flex-wrap items-center justify-end gap-2">
          <div className="me-auto flex items-center gap-1">
            <AttachMenu sessionId={session.session_id} attachments={attachments} />
            <IconButton
              label="Pin: the agent always gets this message"
              icon={<Pin className={isPinned ? 'fill-current' : undefined} />}
              aria-pressed={isPinned}
              onClick={() => setPinned(!isPinned)}
              className={isPinned ? 'bg-accent-soft text-accent!' : undefined}
            />
            <span id={keys} className="hidden px-1 text-xs text-muted sm:inline">
              {isRunning
                ? 'Enter to queue, Ctrl+Enter to steer the running turn'
                : 'Enter to send, Shift+Enter for a new line'}
            </span>
          </div>
          {isRunning && (
            <Button small busy={isStopping} onClick={() => stop(session.session_id)}>
              <OctagonX aria-hidden />
              Stop
            </Button>
          )}
          <div className="flex">
            <Button
              type="submit"
              small
              look="primary"
              busy={sending.isPending}
              disabled={!isSendable}
              className="rounded-e-none"
            >
              <SendHorizontal aria-hidden />
              {isQueueing ? 'Queue' : 'Send'}
            </Button>
            <Menu
              trigger={
                <Button
                  small
                  look="primary"
                  aria-label="More send options"
                  className="rounded-s-none border-s border-white/30 px-1.5!"
                >
                  <ChevronDown aria-hidden />
                </Button>
              }
            >
              {isRunning && (
                <MenuItem disabled={!isSendable} onSelect={() => send('steer')}>
                  Send before the next step
                </MenuItem>
              )}
              {isRunning && (
                <MenuItem disabled={!isSendable} onSelect={() => send('interrupt')}>
                  Interrupt and send
                </MenuItem>
              )}
              <MenuItem
                onSelect={() =>
                  copy('messages', {
                    content: isSendable ? contentOf(text, items) : text || 'Hello',
                    ...(isPinned && { pinned: true }),
                  })
                }
              >
                Copy as curl: send
              </MenuItem>
              {isRunning && <MenuItem onSelect={() => copy('interrupt', STOP)}>Copy as curl: stop</MenuItem>}
            </Menu>
          </div>
        </div>
        <ErrorAlert error={sending.error} />
      </div>
    </form>
  );
}
