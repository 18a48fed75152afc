import { useMutation } from '@tanstack/react-query';
import { ChevronDown, OctagonX, SendHorizontal } from 'lucide-react';
import { type Dispatch, type FormEvent, type KeyboardEvent, type SetStateAction, useId, useRef } from 'react';
import { isStoppable } from '../../../api/session-state.ts';
import { type OutgoingMessage, STOP, sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import { useIdempotencyKeys } from '../../../parts/actions/idempotency-key.ts';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { useLeaveWarning } from '../../../parts/navigation/leave-warning.ts';
import { useShortcut } from '../../../parts/navigation/shortcuts.ts';
import { useStop } from '../../../parts/sessions/use-stop.ts';
import { Button } from '../../../ui/button.tsx';
import { Menu, MenuItem } from '../../../ui/menu.tsx';
import { copyText } from '../../../ui/toast.tsx';
import { MessageQueue } from './message-queue.tsx';

export interface ComposerProps {
  session: Session;
  text: string;
  onText: Dispatch<SetStateAction<string>>;
  onSent: () => void;
}

const MAX_ROWS = 8;

/**
 * Message input with the queue above it. During a turn, messages are queued or interrupt the turn. Behind a held queue they
 * wait.
 */
export function Composer({ session, text, onText, onSent }: ComposerProps) {
  const keys = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const { keyFor, renew } = useIdempotencyKeys();
  const curlOf = useCurl();
  const sending = useMutation({
    mutationFn: (message: OutgoingMessage) => sessions.send(session.session_id, message),
    onSuccess: (_, { content }) => {
      // Keeps text that was typed while the message was being sent.
      onText((newest) => (newest.startsWith(content) ? newest.slice(content.length) : newest));
      renew();
      onSent();
      field.current?.focus();
    },
  });
  const focus = () => field.current?.focus();
  // The Stop button disappears with the turn.
  const { stop, isStopping } = useStop(focus);
  useLeaveWarning(text.trim() !== '');
  useShortcut('c', 'Write a message', focus);

  const isRunning = isStoppable(session);
  const isQueueing = isRunning || session.queue_held;
  const isEmpty = text.trim() === '';
  const send = (busyPolicy: OutgoingMessage['busyPolicy'] = 'enqueue') => {
    if (!isEmpty && !sending.isPending) {
      const message = { content: text, busyPolicy };
      sending.mutate({ ...message, key: keyFor(message) });
    }
  };
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    send();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Enter confirms a character of an input method editor.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const edit = (removed: string) => {
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
      <MessageQueue session={session} editor={{ onEdit: edit, onFocusLost: focus }} />
      <div className="mx-auto max-w-3xl rounded-2xl border border-line bg-surface p-2 shadow-sm focus-within:border-accent">
        <textarea
          ref={field}
          aria-label="Message"
          placeholder={isQueueing ? 'Write the next message' : 'Write a message'}
          dir="auto"
          rows={rows}
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={onKeyDown}
          aria-describedby={keys}
          className="w-full resize-none bg-transparent px-2 py-1 outline-none"
        />
        <div className="flex flex-wrap items-center justify-end gap-2">
          <span id={keys} className="me-auto hidden px-2 text-xs text-muted sm:inline">
            Enter to send, Shift+Enter for a new line
          </span>
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
              disabled={isEmpty}
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
                <MenuItem disabled={isEmpty} onSelect={() => send('interrupt')}>
                  Interrupt and send
                </MenuItem>
              )}
              <MenuItem onSelect={() => copy('messages', { content: text || 'Hello' })}>
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
