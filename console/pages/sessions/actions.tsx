import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Archive, Ellipsis, Pencil, Terminal, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { sessionActs } from '../../api/sessions.ts';
import type { Session } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { type CurlOptions, curlOf } from '../../parts/curl/curl.ts';
import { Problem } from '../../parts/faults/failure.tsx';
import { useViewer } from '../../parts/people/viewer.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText, toast } from '../../ui/toast.tsx';

/** What can be done with a session as a whole. */
export function SessionActions({ session, isMine }: { session: Session; isMine: boolean }) {
  const [open, setOpen] = useState<'rename' | 'archive' | 'delete'>();
  const { isTeam } = useViewer();
  const path = `/sessions/${session.session_id}`;
  const close = () => setOpen(undefined);
  return (
    <>
      <Menu trigger={<IconButton label="More about this session" icon={<Ellipsis />} />}>
        <MenuItem icon={<Terminal />} onSelect={() => void copyText(curlOf({ path, isTeam }))}>
          Copy as curl
        </MenuItem>
        <MenuItem
          icon={<Terminal />}
          onSelect={() => void copyText(curlOf({ path: `${path}/events/stream`, isTeam }))}
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
      {open === 'archive' && <ArchiveSession session={session} onClose={close} />}
      {open === 'delete' && <DeleteSession session={session} onClose={close} />}
    </>
  );
}

function SameAsCurl(request: CurlOptions) {
  return (
    <div className="mt-3">
      <CopyCurl {...request} />
    </div>
  );
}

interface ActProps {
  session: Session;
  onClose: () => void;
}

function useAct<Input>(act: (input: Input) => Promise<unknown>, onDone: () => void) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['sessions'] });
      onDone();
    },
  });
}

function Rename({ session, onClose }: ActProps) {
  const [title, setTitle] = useState(session.title ?? '');
  const { mutate, isPending, error } = useAct(sessionActs(session.session_id).rename, onClose);
  return (
    <Dialog open onClose={onClose} title="Rename the session">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          mutate(title);
        }}
      >
        <Field label="Title">
          <Input value={title} maxLength={200} onChange={(event) => setTitle(event.target.value)} />
        </Field>
        <SameAsCurl method="PATCH" path={`/sessions/${session.session_id}`} body={{ title: title || null }} />
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

function ArchiveSession({ session, onClose }: ActProps) {
  const { mutate, isPending, error } = useAct(sessionActs(session.session_id).archive, onClose);
  return (
    <Confirm
      open
      onClose={onClose}
      title="Archive the session?"
      action="Archive"
      busy={isPending}
      onConfirm={() => mutate(undefined)}
      failure={<Problem error={error} />}
    >
      <p>
        It becomes read-only and leaves the list. Everything in it stays; nothing can be sent to it any more.
      </p>
      <SameAsCurl method="POST" path={`/sessions/${session.session_id}/archive`} />
    </Confirm>
  );
}

function DeleteSession({ session, onClose }: ActProps) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: sessionActs(session.session_id).remove,
    onSuccess: async () => {
      toast.done('The session is deleted.');
      // What is not there any more is not asked for again.
      await navigate({ to: '/sessions' });
      queries.removeQueries({ queryKey: ['sessions', session.session_id] });
      void queries.invalidateQueries({ queryKey: ['sessions', 'list'] });
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title="Delete the session?"
      action="Delete"
      busy={isPending}
      onConfirm={() => mutate()}
      failure={<Problem error={error} />}
    >
      <p>Its messages, events and files are gone for good. What runs in it ends at once.</p>
      <SameAsCurl method="DELETE" path={`/sessions/${session.session_id}`} />
    </Confirm>
  );
}
