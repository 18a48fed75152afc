import { Archive, Blocks, Ellipsis, FoldVertical, OctagonX, Pencil, Terminal, Trash2 } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { isBusy, isStoppable, isWritable } from '../../api/session-state.ts';
import type { Session } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { useStop } from '../../parts/sessions/use-stop.ts';
import { IconButton } from '../../ui/button.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { copyText } from '../../ui/toast.tsx';
import type { SessionDialog } from './session-dialogs.tsx';
import { useCompact } from './use-compact.ts';

const SessionDialogs = lazy(async () => ({
  default: (await loadChunk(() => import('./session-dialogs.tsx'))).SessionDialogs,
}));

export interface SessionActionsProps {
  session: Session;
  /** The viewer is the owner. */
  isMine: boolean;
  isDeleted: boolean;
}

/** Menu with the actions of a session. The code of their dialogs loads when one is opened. */
export function SessionActions({ session, isMine, isDeleted }: SessionActionsProps) {
  const [open, setOpen] = useState<SessionDialog>();
  // The dialogs stay mounted, so that they report the result of an action after they were closed.
  const [wasOpened, setWasOpened] = useState(false);
  if (open !== undefined && !wasOpened) setWasOpened(true);
  const { stop, isStopping } = useStop();
  const { compact, isCompacting } = useCompact(session.session_id);
  const curlOf = useCurl();
  const path = `/sessions/${session.session_id}`;
  return (
    <>
      <Menu trigger={<IconButton label="Session actions" icon={<Ellipsis />} />}>
        {!isDeleted && isStoppable(session) && (
          <MenuItem icon={<OctagonX />} disabled={isStopping} onSelect={() => stop(session.session_id)}>
            Stop
          </MenuItem>
        )}
        {isMine && !isDeleted && isWritable(session) && (
          <MenuItem
            icon={<FoldVertical />}
            disabled={isBusy(session) || isCompacting}
            reason={isBusy(session) ? 'Not while a turn runs or waits' : undefined}
            onSelect={compact}
          >
            Compact now
          </MenuItem>
        )}
        {!isDeleted && (
          <MenuItem icon={<Blocks />} onSelect={() => setOpen('extensions')}>
            Available extensions
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
      <Suspense fallback={null}>
        {wasOpened && <SessionDialogs session={session} open={open} onClose={() => setOpen(undefined)} />}
      </Suspense>
    </>
  );
}
