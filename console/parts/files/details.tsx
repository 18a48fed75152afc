import { FolderTree, Pencil, Trash2 } from 'lucide-react';
import type { Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Problem } from '../faults/failure.tsx';
import { CurlMenu } from './curl-menu.tsx';
import { DownloadFile, PartsHint, useArchive } from './downloads.tsx';
import { Facts } from './facts.tsx';
import { EntryIcon } from './icon.tsx';
import { Name } from './name.tsx';
import { Preview } from './preview.tsx';

export interface DetailsProps {
  place: Place;
  entry: FileEntry;
  /** Absent where nothing may be changed. */
  onRename?: ((entry: FileEntry) => void) | undefined;
  onDelete?: ((entry: FileEntry) => void) | undefined;
}

/** What is known of a file, a folder or a link, what can be done with it, and what is in it. */
export function Details({ place, entry, onRename, onDelete }: DetailsProps) {
  const { kind, path, name, executable } = entry;
  const archive = useArchive(place, path);
  return (
    <>
      <div className="flex flex-col gap-3 border-line p-4 not-last:border-b">
        <div className="flex min-w-0 items-center gap-2">
          <EntryIcon entry={entry} />
          <h2 className="min-w-0 font-semibold">{path ? <Name text={name} /> : 'Workspace'}</h2>
          {executable && <Badge>Executable</Badge>}
          {kind === 'symlink' && <Badge>Symbolic link</Badge>}
        </div>
        {path && <Facts entry={entry} />}
        <div className="flex flex-wrap gap-2">
          {kind === 'file' && <DownloadFile place={place} entry={entry} />}
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
          <CurlMenu place={place} entry={entry} />
        </div>
        <Problem error={archive.error} />
      </div>
      {kind === 'file' && <Preview key={path} place={place} entry={entry} />}
      {kind === 'file' && <PartsHint place={place} entry={entry} />}
      {kind === 'symlink' && (
        <Empty icon={<EntryIcon entry={entry} />}>
          A link has no content of its own, and nobody follows it here.
        </Empty>
      )}
      {kind === 'directory' && (
        // Where there is room for one thing, that is the tree.
        <div className="max-lg:hidden">
          <Empty icon={<FolderTree />}>
            {onDelete
              ? 'Open a file to see it, or drop files here to upload them.'
              : 'Open a file to see it.'}
          </Empty>
        </div>
      )}
    </>
  );
}
