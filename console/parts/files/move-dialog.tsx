import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { ApiError } from '../../api/client.ts';
import { fileRoute, files, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { Problem } from '../faults/failure.tsx';
import { folderOf, nameOf } from './paths.ts';

export interface MoveDialogProps {
  place: Place;
  entry: FileEntry;
  onClose: () => void;
  onMoved: (from: string, to: string) => void;
}

/** A new path for something: another name, another folder, or both. */
export function MoveDialog({ place, entry, onClose, onMoved }: MoveDialogProps) {
  const [to, setTo] = useState(entry.path);
  const field = useRef<HTMLInputElement>(null);
  const moving = useMutation({
    mutationFn: (overwrite: boolean) => files.move(place, { from: entry.path, to, overwrite }),
    onSuccess: () => {
      toast.done(folderOf(to) === folderOf(entry.path) ? 'Renamed' : 'Moved');
      onMoved(entry.path, to);
      onClose();
    },
  });
  const isTaken = moving.error instanceof ApiError && moving.error.code === 'NAME_TAKEN';

  /** The name without its ending is what is mostly changed. A dialog that gives the focus marks everything, just after it. */
  function markName(): void {
    const { path, kind } = entry;
    const begin = path.length - nameOf(path).length;
    const dot = kind === 'file' ? path.lastIndexOf('.') : -1;
    const end = dot > begin ? dot : path.length;
    requestAnimationFrame(() => field.current?.setSelectionRange(begin, end));
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (to === entry.path) onClose();
    else if (!moving.isPending) moving.mutate(false);
  }

  return (
    <Dialog open onClose={onClose} title="Rename or move" initialFocus={field}>
      <form onSubmit={submit} noValidate>
        <Field label="New path" hint="Folders in it are made as they are needed.">
          <Input
            ref={field}
            value={to}
            spellCheck={false}
            autoComplete="off"
            onFocus={() => {
              if (to === entry.path) markName();
            }}
            onChange={(event) => {
              setTo(event.currentTarget.value);
              moving.reset();
            }}
          />
        </Field>
        {isTaken ? (
          <div role="alert" className="mt-3 rounded-lg border border-warn bg-warn-soft px-3 py-2 text-warn">
            Something is at this path already. It is lost, with all that is in it, when you replace it.
          </div>
        ) : (
          <Problem error={moving.error} />
        )}
        <div className="mt-3">
          <CopyCurl
            method="POST"
            path={fileRoute(place, '/move')}
            body={{ from: entry.path, to, ...(isTaken ? { overwrite: true } : {}) }}
          />
        </div>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          {isTaken ? (
            <Button look="danger" busy={moving.isPending} onClick={() => moving.mutate(true)}>
              Replace it
            </Button>
          ) : (
            <Button look="primary" type="submit" busy={moving.isPending}>
              Move
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}
