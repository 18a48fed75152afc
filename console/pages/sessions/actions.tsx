import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Archive, Ellipsis, OctagonX, Pencil, Terminal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { isStoppable } from '../../api/session-state.ts';
import { sessions } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { ConfirmAction } from '../../parts/actions/confirm-action.tsx';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { useStop } from '../../parts/sessions/use-stop.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText, toast } from '../../ui/toast.tsx';

export interface SessionActionsProps {
  session: Session;
  /** The viewer is the owner. */
  isMine: boolean;
  isDeleted: boolean;
}

/** Menu with the actions of a session, and their dialogs. */
export function SessionActions({ session, isMine, isDeleted }: SessionActionsProps) {
  const [open, setOpen] = useState<'rename' | 'archive' | 'delete'>();
  const { stop, isStopping } = useStop();
  const curlOf = useCurl();
  const path = `/sessions/${session.session_id}`;
  const close = () => setOpen(undefined);
  return (
    <>
      <Menu trigger={<IconButton label="Session actions" icon={<Ellipsis />} />}>
        {!isDeleted && isStoppable(session) && (
          <MenuItem icon={<OctagonX />} disabled={isStopping} onSelect={() => stop(session.session_id)}>
            Stop
          </MenuItem>
        )}
        <MenuItem icon={<Terminal />} onSelect={() => void copyText(curlOf({ path }))}>
          Copy as curl
        </MenuItem>
        <MenuItem
          icon={<Terminal />}
          onSelect={() => void copyText(curlOf({ path: `${path}/events/stream` }))}
        >
          Copy as curl: stream events
        </MenuItem>
        {isMine && !isDeleted && (
          <>
            <MenuItem icon={<Pencil />} onSelect={() => setOpen('rename')}>
              Rename
            </MenuItem>
            {!session.archived_at && (
              <MenuItem icon={<Archive />} onSelect={() => setOpen('archive')}>
                Archive
              </MenuItem>
            )}
            <MenuItem icon={<Trash2 />} danger onSelect={() => setOpen('delete')}>
              Delete
            </MenuItem>
          </>
        )}
      </Menu>
      {open === 'rename' && <RenameSession session={session} onClose={close} />}
      <ArchiveSession session={session} isOpen={open === 'archive'} onClose={close} />
      <DeleteSession session={session} isOpen={open === 'delete'} onClose={close} />
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
