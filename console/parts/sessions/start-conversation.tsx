import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { MessageSquarePlus } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import type { Session } from '../../gen/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field, TextArea } from '../../ui/field.tsx';
import { useIdempotencyKeys } from '../actions/idempotency-key.ts';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { ErrorAlert } from '../errors/error-state.tsx';

export interface StartConversationProps {
  /** Name of the agent or assistant. */
  name: string;
  /** API path that creates the conversation, below /api/v1. */
  path: string;
  run: (message: string | undefined, key: string) => Promise<Session>;
  disabled?: boolean;
}

/** A button that opens a dialog for the first message and creates a session. */
export function StartConversation(props: StartConversationProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button look="primary" disabled={props.disabled} onClick={() => setOpen(true)}>
        <MessageSquarePlus aria-hidden />
        Start a conversation
      </Button>
      <Dialog open={isOpen} onClose={close} title={`New conversation with ${props.name}`}>
        <FirstMessage {...props} onClose={close} />
      </Dialog>
    </>
  );
}

function FirstMessage({ path, run, onClose }: StartConversationProps & { onClose: () => void }) {
  const [text, setText] = useState('');
  const { keyFor } = useIdempotencyKeys();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const message = text.trim() === '' ? undefined : text;
  const starting = useMutation({
    mutationFn: () => run(message, keyFor(message)),
    onSuccess: ({ session_id: sessionId }) => {
      void queries.invalidateQueries({ queryKey: ['sessions', 'list'] });
      onClose();
      void navigate({ to: '/sessions/$sessionId', params: { sessionId } });
    },
  });
  const start = () => {
    if (!starting.isPending) starting.mutate();
  };
  return (
    <form
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        start();
      }}
    >
      <Field label="First message" optional hint="Leave empty to send it later. Press Ctrl+Enter to start.">
        <TextArea
          value={text}
          rows={5}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event: KeyboardEvent) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start();
          }}
        />
      </Field>
      <ErrorAlert error={starting.error} />
      <DialogActions>
        <CopyCurl method="POST" path={path} body={{ message }} />
        <Button type="submit" look="primary" busy={starting.isPending}>
          Start
        </Button>
      </DialogActions>
    </form>
  );
}
