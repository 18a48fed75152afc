import { useMutation } from '@tanstack/react-query';
import { ChevronDown, OctagonX, SendHorizontal } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useId, useRef } from 'react';
import { type Sending, sessions } from '../../../api/sessions.ts';
import type { Session } from '../../../gen/index.ts';
import { useIdempotencyKeys } from '../../../parts/acts/idempotency-key.ts';
import { useCurl } from '../../../parts/curl/use-curl.ts';
import { Problem } from '../../../parts/faults/failure.tsx';
import { useLeaveWarning } from '../../../parts/leave-warning.ts';
import { useShortcut } from '../../../parts/shortcuts.ts';
import { Button } from '../../../ui/button.tsx';
import { Menu, MenuItem } from '../../../ui/menu.tsx';
import { copyText } from '../../../ui/toast.tsx';

export interface ComposerProps {
  session: Session;
  text: string;
  onText: (text: string) => void;
  onSent: () => void;
}

const ROWS = 8;

/** Where one writes to the agent. While it works, messages queue behind the turn, or end it. */
export function Composer({ session, text, onText, onSent }: ComposerProps) {
  const keys = useId();
  const field = useRef<HTMLTextAreaElement>(null);
  const newest = useRef(text);
  newest.current = text;
  const { keyFor, renew } = useIdempotencyKeys();
  const curlOf = useCurl();
  const sending = useMutation({
    mutationFn: (message: Sending) => sessions.send(session.session_id, message),
    onSuccess: (_, { content }) => {
      // Whoever has gone on writing meanwhile does not lose it.
      if (newest.current === content) onText('');
      renew();
      onSent();
      field.current?.focus();
    },
  });
  const interrupting = useMutation({
    mutationFn: () => sessions.interrupt(session.session_id),
    // The button goes with the turn.
    onSuccess: () => field.current?.focus(),
  });
  useLeaveWarning(text.trim() !== '');
  useShortcut('c', 'Write a message', () => field.current?.focus());

  const isBusy = session.status !== 'idle' || session.needs_action;
  const isEmpty = text.trim() === '';
  const send = (busyPolicy: Sending['busyPolicy'] = 'enqueue') => {
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
    // Whoever composes a character with Enter is not done.
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const copy = (what: 'messages' | 'interrupt', body?: object) => {
    const path = `/sessions/${session.session_id}/${what}`;
    void copyText(curlOf({ method: 'POST', path, body }));
  };
  const rows = Math.min(ROWS, text.split('\n').length);
  return (
    <form onSubmit={onSubmit} className="px-4 pb-4 sm:px-8">
      <div className="mx-auto max-w-3xl rounded-2xl border border-line bg-surface p-2 shadow-sm focus-within:border-accent">
        <textarea
          ref={field}
          aria-label="Message"
          placeholder={isBusy ? 'Write what comes next' : 'Write to the agent'}
          dir="auto"
          rows={rows}
          value={text}
          onChange={(event) => onText(event.target.value)}
          onKeyDown={onKeyDown}
          aria-describedby={keys}
          className="w-full resize-none bg-transparent px-2 py-1 outline-none"
        />
        <div className="flex flex-wrap items-center justify-end gap-2">
          <span className="me-auto hidden px-2 text-xs text-muted sm:inline">
            <span id={keys}>Enter sends, Shift+Enter begins a line</span>
            {session.queued_turns > 0 && ` · ${session.queued_turns} queued`}
          </span>
          {isBusy && (
            <Button small busy={interrupting.isPending} onClick={() => interrupting.mutate()}>
              <OctagonX aria-hidden />
              Interrupt
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
              {isBusy ? 'Queue' : 'Send'}
            </Button>
            <Menu
              trigger={
                <Button
                  small
                  look="primary"
                  aria-label="Other ways to send"
                  className="rounded-s-none border-s border-white/30 px-1.5!"
                >
                  <ChevronDown aria-hidden />
                </Button>
              }
            >
              {isBusy && (
                <MenuItem disabled={isEmpty} onSelect={() => send('interrupt')}>
                  Interrupt, then send
                </MenuItem>
              )}
              <MenuItem onSelect={() => copy('messages', { content: text || 'Hello' })}>
                Copy as curl: send
              </MenuItem>
              {isBusy && <MenuItem onSelect={() => copy('interrupt')}>Copy as curl: interrupt</MenuItem>}
            </Menu>
          </div>
        </div>
        <Problem error={sending.error ?? interrupting.error} />
      </div>
    </form>
  );
}
