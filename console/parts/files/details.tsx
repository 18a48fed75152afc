import { FolderTree, Pencil, Trash2 } from 'lucide-react';
import type { WorkspaceRef } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorAlert } from '../errors/error-state.tsx';
import { CurlMenu } from './curl-menu.tsx';
import { DownloadFile, PartsHint, useArchive } from './downloads.tsx';
import { EntryIcon } from './entry-icon.tsx';
import { FileName } from './file-name.tsx';
import { FileProperties } from './file-properties.tsx';
import { FilePreview } from './preview/preview.tsx';

export interface DetailsProps {
  workspace: WorkspaceRef;
  entry: FileEntry;
  /** Absent in a read-only workspace. */
  onRename?: ((entry: FileEntry) => void) | undefined;
  onDelete?: ((entry: FileEntry) => void) | undefined;
}

/** Properties, actions and preview of a file, folder or symbolic link. */
export function Details({ workspace, entry, onRename, onDelete }: DetailsProps) {
  const { kind, path, name, executable } = entry;
  const archive = useArchive(workspace, path);
  return (
    <>
      <div className="flex flex-col gap-3 border-line p-4 not-last:border-b">
        <div className="flex min-w-0 items-center gap-2">
          <EntryIcon entry={entry} />
          <h2 className="min-w-0 font-semibold">{path ? <FileName text={name} /> : 'Workspace'}</h2>
          {executable && <Badge>Executable</Badge>}
          {kind === 'symlink' && <Badge>Symbolic link</Badge>}
        </div>
        {path && <FileProperties entry={entry} />}
        <div className="flex flex-wrap gap-2">
          {kind === 'file' && <DownloadFile workspace={workspace} entry={entry} />}
          {kind === 'directory' && archive.button}
          {path && onRename && (
            <Button small onClick={() => onRename(entry)}>
              <Pencil aria-hidden />
              Rename or move
            </Button>
          )}
          {path && onDelete && (
            <Button small onClick={() => onDelete(entry)}>
              <Trash2 aria-hidden />
              Delete
            </Button>
          )}
          <CurlMenu workspace={workspace} entry={entry} />
        </div>
        <ErrorAlert error={archive.error} />
      </div>
      {kind === 'file' && <FilePreview key={path} workspace={workspace} entry={entry} />}
      {kind === 'file' && <PartsHint workspace={workspace} entry={entry} />}
      {kind === 'symlink' && (
        <EmptyState icon={<EntryIcon entry={entry} />}>
          Symbolic links have no content. The console does not follow them.
        </EmptyState>
      )}
      {kind === 'directory' && (
        // Narrow screens show only the tree.
        <div className="max-lg:hidden">
          <EmptyState icon={<FolderTree />}>
            {onDelete
              ? 'Select a file to view it, or drop files here to upload them.'
              : 'Select a file to view it.'}
          </EmptyState>
        </div>
      )}
    </>
  );
}
