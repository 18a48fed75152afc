import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { fileRoute, files, type WorkspaceRef } from '../../../api/files.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { toast } from '../../../ui/toast.tsx';
import { CopyCurl } from '../../curl/copy-curl.tsx';
import { ErrorAlert } from '../../errors/error-state.tsx';
import { FileName } from '../file-name.tsx';
import { join } from '../paths.ts';

export interface FolderDialogProps {
  workspace: WorkspaceRef;
  /** Parent folder. */
  folder: string;
  onClose: () => void;
  onCreated: (path: string) => void;
}

/** Dialog that creates a folder. */
export function FolderDialog({ workspace, folder, onClose, onCreated }: FolderDialogProps) {
  const [name, setName] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const path = join(folder, name);
  const mutation = useMutation({
    mutationFn: () => files.makeDirectory(workspace, path),
    onSuccess: () => {
      toast.done('Folder created.');
      onCreated(path);
      onClose();
    },
  });

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (name && !mutation.isPending) mutation.mutate();
  }

  const where = folder ? (
    <>
      In <FileName text={folder} />
    </>
  ) : (
    'In the workspace'
  );
  return (
    <Dialog open onClose={onClose} title="New folder" description={where} initialFocus={field}>
      <form onSubmit={submit} noValidate>
        <Field label="Name" hint="Use slashes to create nested folders.">
          <Input
            ref={field}
            value={name}
            spellCheck={false}
            autoComplete="off"
            onChange={(event) => {
              setName(event.currentTarget.value);
              mutation.reset();
            }}
          />
        </Field>
        <ErrorAlert error={mutation.error} />
        <div className="mt-3">
          <CopyCurl method="POST" path={fileRoute(workspace, '/directories')} body={{ path }} />
        </div>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" busy={mutation.isPending} disabled={!name}>
            Create folder
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
