import { fileRoute, files, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { ConfirmAct } from '../acts/confirm-act.tsx';
import { Name } from './name.tsx';

const NOUNS = { file: 'file', directory: 'folder', symlink: 'link' } as const;

export interface DeleteDialogProps {
  place: Place;
  entry: FileEntry;
  onClose: () => void;
  onDeleted: (path: string) => void;
}

export function DeleteDialog({ place, entry, onClose, onDeleted }: DeleteDialogProps) {
  return (
    <ConfirmAct
      open
      onClose={onClose}
      title={`Delete this ${NOUNS[entry.kind]}?`}
      action="Delete"
      run={() => files.remove(place, entry.path)}
      curl={{ method: 'DELETE', path: fileRoute(place, '', entry.path) }}
      done="Deleted"
      onDone={() => onDeleted(entry.path)}
    >
      <p>
        <Name text={entry.path} />{' '}
        {entry.kind === 'directory'
          ? 'goes with all files and folders that are in it, however many.'
          : entry.kind === 'symlink'
            ? 'goes; what it points to stays.'
            : 'goes.'}{' '}
        The agent cannot read it any more either.
      </p>
    </ConfirmAct>
  );
}
