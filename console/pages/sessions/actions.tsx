import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Archive, Ellipsis, Pencil, Terminal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { sessions } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { ConfirmAct } from '../../parts/acts/confirm-act.tsx';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { Problem } from '../../parts/faults/failure.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText, toast } from '../../ui/toast.tsx';

/** What can be done with a session as a whole. */
export function SessionActions({ session, isMine }: { session: Session; isMine: boolean }) {
  const [open, setOpen] = useState<'rename' | 'archive' | 'delete'>();
  const curlOf = useCurl();
  const path = `/sessions/${session.session_id}`;
  const close = () => setOpen(undefined);
  return (
    <>
      <Menu trigger={<IconButton label="More about this session" icon={<Ellipsis />} />}>
        <MenuItem icon={<Terminal />} onSelect={() => void copyText(curlOf({ path }))}>
          Copy as curl
        </MenuItem>
        <MenuItem
          icon={<Terminal />}
          onSelect={() => void copyText(curlOf({ path: `${path}/events/stream` }))}
        >
          Copy as curl: follow its events
        </MenuItem>
        {isMine && (
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
      {open === 'rename' && <Rename session={session} onClose={close} />}
      <ArchiveSession session={session} isOpen={open === 'archive'} onClose={close} />
      <DeleteSession session={session} isOpen={open === 'delete'} onClose={close} />
    </>
  );
}

interface ActProps {
  session: Session;
  isOpen: boolean;
  onClose: () => void;
}

function Rename({ session: { session_id: id, title: before }, onClose }: Omit<ActProps, 'isOpen'>) {
  const [title, setTitle] = useState(before ?? '');
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => sessions.rename(id, title),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['sessions'] });
      onClose();
      toast.done('The session is renamed.');
    },
  });
  return (
    <Dialog open onClose={onClose} title="Rename the session">
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
        <Problem error={error} />
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

function ArchiveSession({ session: { session_id: id }, isOpen, onClose }: ActProps) {
  const queries = useQueryClient();
  return (
    <ConfirmAct
      open={isOpen}
      onClose={onClose}
      title="Archive the session?"
      action="Archive"
      run={() => sessions.archive(id)}
      curl={{ method: 'POST', path: `/sessions/${id}/archive` }}
      done="The session is archived."
      onDone={() => queries.invalidateQueries({ queryKey: ['sessions'] })}
    >
      <p>
        It becomes read-only and leaves the list. Everything in it stays; nothing can be sent to it any more.
      </p>
    </ConfirmAct>
  );
}

function DeleteSession({ session: { session_id: id }, isOpen, onClose }: ActProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <ConfirmAct
      open={isOpen}
      onClose={onClose}
      title="Delete the session?"
      action="Delete"
      run={() => sessions.remove(id)}
      curl={{ method: 'DELETE', path: `/sessions/${id}` }}
      done="The session is deleted."
      onDone={async () => {
        // What is not there any more is not asked for again.
        await navigate({ to: '/sessions' });
        queries.removeQueries({ queryKey: ['sessions', id] });
        void queries.invalidateQueries({ queryKey: ['sessions', 'list'] });
      }}
    >
      <p>Its messages, events and files are gone for good. What runs in it ends at once.</p>
    </ConfirmAct>
  );
}
