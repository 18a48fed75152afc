import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { fileRoute, files, type Place } from '../../api/files.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field, Input } from '../../ui/field.tsx';
import { toast } from '../../ui/toast.tsx';
import { CopyCurl } from '../curl/copy-curl.tsx';
import { Problem } from '../faults/failure.tsx';
import { Name } from './name.tsx';
import { join } from './paths.ts';

export interface FolderDialogProps {
  place: Place;
  /** In which it is made. */
  folder: string;
  onClose: () => void;
  onMade: (path: string) => void;
}

/** Asks for the name of a folder, and makes it. */
export function FolderDialog({ place, folder, onClose, onMade }: FolderDialogProps) {
  const [name, setName] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const path = join(folder, name);
  const making = useMutation({
    mutationFn: () => files.makeDirectory(place, path),
    onSuccess: () => {
      toast.done('Folder made');
      onMade(path);
      onClose();
    },
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (name && !making.isPending) making.mutate();
  }

  const where = folder ? (
    <>
      In <Name text={folder} />
    </>
  ) : (
    'In the workspace'
  );
  return (
    <Dialog open onClose={onClose} title="New folder" description={where} initialFocus={field}>
      <form onSubmit={submit} noValidate>
        <Field label="Name" hint="With slashes in it, folders are made in one another.">
          <Input
            ref={field}
            value={name}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => {
              setName(event.currentTarget.value);
              making.reset();
            }}
          />
        </Field>
        <Problem error={making.error} />
        <div className="mt-3">
          <CopyCurl method="POST" path={fileRoute(place, '/directories')} body={{ path }} />
        </div>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" busy={making.isPending} disabled={!name}>
            Make folder
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
