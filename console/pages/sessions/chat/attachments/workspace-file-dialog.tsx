import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { files } from '../../../../api/files.ts';
import type { FileEntry } from '../../../../gen/index.ts';
import { messageOf } from '../../../../parts/errors/error-state.tsx';
import { Breadcrumbs } from '../../../../parts/files/breadcrumbs.tsx';
import { EntryIcon } from '../../../../parts/files/entry-icon.tsx';
import { FileName } from '../../../../parts/files/file-name.tsx';
import { Button } from '../../../../ui/button.tsx';
import { formatBytes } from '../../../../ui/bytes.ts';
import { Dialog } from '../../../../ui/dialog.tsx';
import { Skeleton } from '../../../../ui/skeleton.tsx';

export interface WorkspaceFileDialogProps {
  sessionId: string;
  onClose: () => void;
  onChosen: (file: FileEntry) => void;
}

/** Dialog that chooses a file of the session's workspace, one folder and one page of it at a time. */
export function WorkspaceFileDialog({ sessionId, onClose, onChosen }: WorkspaceFileDialogProps) {
  const [folder, setFolder] = useState('');
  const [cursors, setCursors] = useState<readonly string[]>([]);
  const { data, error } = useQuery(files.page({ kind: 'session', id: sessionId }, folder, cursors.at(-1)));
  const open = (path = '') => {
    setFolder(path);
    setCursors([]);
  };
  const next = data?.next;
  return (
    <Dialog open onClose={onClose} title="Attach a file of the workspace">
      <Breadcrumbs path={folder} onPath={open} />
      <div className="mt-2 max-h-80 overflow-y-auto rounded-lg border border-line">
        {error ? (
          <p role="alert" className="p-3 text-bad">
            {messageOf(error)}
          </p>
        ) : data ? (
          <ul aria-label="Files" className="divide-y divide-line">
            {data.items.map((entry) => (
              <li key={entry.path}>
                <EntryButton entry={entry} onOpen={open} onChosen={onChosen} />
              </li>
            ))}
          </ul>
        ) : (
          <Skeleton lines={4} />
        )}
        {data?.items.length === 0 && <p className="p-3 text-muted">This folder is empty.</p>}
      </div>
      <div className="mt-3 flex gap-2">
        {cursors.length > 0 && (
          <Button small onClick={() => setCursors(cursors.slice(0, -1))}>
            Previous page
          </Button>
        )}
        {next !== undefined && (
          <Button small onClick={() => setCursors([...cursors, next])}>
            Next page
          </Button>
        )}
      </div>
    </Dialog>
  );
}

interface EntryButtonProps {
  entry: FileEntry;
  onOpen: (folder: string) => void;
  onChosen: (file: FileEntry) => void;
}

function EntryButton({ entry, onOpen, onChosen }: EntryButtonProps) {
  const isFolder = entry.kind === 'directory';
  return (
    <button
      type="button"
      disabled={entry.kind === 'symlink' || (entry.size === 0 && !isFolder)}
      onClick={() => (isFolder ? onOpen(entry.path) : onChosen(entry))}
      className="flex w-full items-center gap-2 px-3 py-2 text-start hover:bg-sunken disabled:opacity-50"
    >
      <EntryIcon entry={entry} />
      <span className="min-w-0 flex-1">
        <FileName text={entry.name} truncate />
      </span>
      {!isFolder && <span className="text-xs text-muted">{formatBytes(entry.size)}</span>}
    </button>
  );
}
