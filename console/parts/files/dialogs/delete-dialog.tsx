import { fileRoute, files, type WorkspaceRef } from '../../../api/files.ts';
import type { FileEntry } from '../../../gen/index.ts';
import { ConfirmAction } from '../../actions/confirm-action.tsx';
import { FileName } from '../file-name.tsx';

const NOUNS = { file: 'file', directory: 'folder', symlink: 'link' } as const;

export interface DeleteDialogProps {
  workspace: WorkspaceRef;
  entry: FileEntry;
  onClose: () => void;
  onDeleted: (path: string) => void;
}

export function DeleteDialog({ workspace, entry, onClose, onDeleted }: DeleteDialogProps) {
  return (
    <ConfirmAction
      open
      onClose={onClose}
      title={`Delete this ${NOUNS[entry.kind]}?`}
      action="Delete"
      run={() => files.remove(workspace, entry.path)}
      curl={{ method: 'DELETE', path: fileRoute(workspace, '', entry.path) }}
      done="Deleted."
      onDone={() => onDeleted(entry.path)}
    >
      <p>
        <FileName text={entry.path} />{' '}
        {entry.kind === 'directory'
          ? 'and everything in it will be deleted.'
          : entry.kind === 'symlink'
            ? 'will be deleted. The target of the link is kept.'
            : 'will be deleted.'}{' '}
        The agent can no longer read it.
      </p>
    </ConfirmAction>
  );
}
