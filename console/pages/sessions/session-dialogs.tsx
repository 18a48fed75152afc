import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { sessions } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { ConfirmAction } from '../../parts/actions/confirm-action.tsx';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { ExtensionsDialog } from './extensions/extensions-dialog.tsx';

export type SessionDialog = 'extensions' | 'rename' | 'archive' | 'delete';

export interface SessionDialogsProps {
  session: Session;
  open: SessionDialog | undefined;
  onClose: () => void;
}

/** The dialogs of the menu of a session. */
export function SessionDialogs({ session, open, onClose }: SessionDialogsProps) {
  return (
    <>
      {open === 'extensions' && <ExtensionsDialog sessionId={session.session_id} onClose={onClose} />}
      {open === 'rename' && <RenameSession session={session} onClose={onClose} />}
      <ArchiveSession session={session} isOpen={open === 'archive'} onClose={onClose} />
      <DeleteSession session={session} isOpen={open === 'delete'} onClose={onClose} />
    </>
  );
}

interface SessionDialogProps {
  session: Session;
  isOpen: boolean;
  onClose: () => void;
}

function RenameSession({
  session: { session_id: id, title: before },
  onClose,
}: Omit<SessionDialogProps, 'isOpen'>) {
  const [title, setTitle] = useState(before ?? '');
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => sessions.rename(id, title),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['sessions'] });
      onClose();
      toast.done('The session was renamed.');
    },
  });
  return (
    <Dialog open onClose={onClose} title="Rename session">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending) mutate();
        }}
      >
        <Field label="Title">
          <Input value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
        </Field>
        <div className="mt-3">
          <CopyCurl method="PATCH" path={`/sessions/${id}`} body={{ title: title || null }} />
        </div>
        <ErrorAlert error={error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" busy={isPending}>
            Rename
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

function ArchiveSession({ session: { session_id: id }, isOpen, onClose }: SessionDialogProps) {
  const queries = useQueryClient();
  return (
    <ConfirmAction
      open={isOpen}
      onClose={onClose}
      title="Archive session?"
      action="Archive"
      run={() => sessions.archive(id)}
      curl={{ method: 'POST', path: `/sessions/${id}/archive` }}
      done="The session was archived."
      onDone={() => queries.invalidateQueries({ queryKey: ['sessions'] })}
    >
      <p>
        An archived session is read-only and hidden from the default list. Its messages, events and files are
        kept.
      </p>
    </ConfirmAction>
  );
}

function DeleteSession({ session: { session_id: id }, isOpen, onClose }: SessionDialogProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <ConfirmAction
      open={isOpen}
      onClose={onClose}
      title="Delete session?"
      action="Delete"
      run={() => sessions.remove(id)}
      curl={{ method: 'DELETE', path: `/sessions/${id}` }}
      done="The session was deleted."
      onDone={async () => {
        // Leaves the page first, so that its queries are not requested again.
        await navigate({ to: '/sessions' });
        queries.removeQueries({ queryKey: ['sessions', id] });
        void queries.invalidateQueries({ queryKey: ['sessions', 'list'] });
      }}
    >
      <p>Deletes its messages, events and files permanently. A running turn ends immediately.</p>
    </ConfirmAction>
  );
}
