import { useMutation } from '@tanstack/react-query';
import { deleteFile, fileRoute, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { toast } from '../../ui/toast.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { Problem } from '../faults/failure.tsx';
import { Name } from './name.tsx';

const NOUNS = { file: 'file', directory: 'folder', symlink: 'link' } as const;

export interface DeleteDialogProps {
  place: Place;
  entry: FileEntry;
  onClose: () => void;
  onDeleted: (path: string) => void;
}

export function DeleteDialog({ place, entry, onClose, onDeleted }: DeleteDialogProps) {
  const deleting = useMutation({
    mutationFn: () => deleteFile(place, entry.path),
    onSuccess: () => {
      toast.done('Deleted');
      onDeleted(entry.path);
      onClose();
    },
  });
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Delete this ${NOUNS[entry.kind]}?`}
      action="Delete"
      onConfirm={() => deleting.mutate()}
      busy={deleting.isPending}
      failure={<Problem error={deleting.error} />}
    >
      <div className="flex flex-col items-start gap-3">
        <p>
          <Name text={entry.path} />{' '}
          {entry.kind === 'directory'
            ? 'goes with all files and folders that are in it, however many.'
            : entry.kind === 'symlink'
              ? 'goes; what it points to stays.'
              : 'goes.'}{' '}
          The agent cannot read it any more either.
        </p>
        <CopyCurl method="DELETE" path={fileRoute(place, '', entry.path)} />
      </div>
    </Confirm>
  );
}
