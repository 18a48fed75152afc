import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useRef, useState } from 'react';
import { ApiError } from '../../../api/client.ts';
import { fileRoute, files, type WorkspaceRef } from '../../../api/files.ts';
import type { FileEntry } from '../../../gen/index.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { Field, Input } from '../../../ui/field.tsx';
import { toast } from '../../../ui/toast.tsx';
import { CopyCurl } from '../../curl/copy-curl.tsx';
import { ErrorAlert } from '../../errors/error-state.tsx';
import { folderOf, nameOf } from '../paths.ts';

export interface MoveDialogProps {
  workspace: WorkspaceRef;
  entry: FileEntry;
  onClose: () => void;
  onMoved: (from: string, to: string) => void;
}

/** Dialog that renames or moves an entry. */
export function MoveDialog({ workspace, entry, onClose, onMoved }: MoveDialogProps) {
  const [to, setTo] = useState(entry.path);
  const field = useRef<HTMLInputElement>(null);
  const mutation = useMutation({
    mutationFn: (overwrite: boolean) => files.move(workspace, { from: entry.path, to, overwrite }),
    onSuccess: () => {
      toast.done(folderOf(to) === folderOf(entry.path) ? 'Renamed.' : 'Moved.');
      onMoved(entry.path, to);
      onClose();
    },
  });
  const isTaken = mutation.error instanceof ApiError && mutation.error.code === 'NAME_TAKEN';

  /** Selects the name without its extension. The dialog selects the whole text right after it sets the focus. */
  function selectName(): void {
    const { path, kind } = entry;
    const begin = path.length - nameOf(path).length;
    const dot = kind === 'file' ? path.lastIndexOf('.') : -1;
    const end = dot > begin ? dot : path.length;
    requestAnimationFrame(() => field.current?.setSelectionRange(begin, end));
  }

  function submit(event: FormEvent): void {
    event.preventDefault();
    if (to === entry.path) onClose();
    else if (!mutation.isPending) mutation.mutate(false);
  }

  return (
    <Dialog open onClose={onClose} title="Rename or move" initialFocus={field}>
      <form onSubmit={submit} noValidate>
        <Field label="New path" hint="Missing folders are created.">
          <Input
            ref={field}
            value={to}
            spellCheck={false}
            autoComplete="off"
            onFocus={() => {
              if (to === entry.path) selectName();
            }}
            onChange={(event) => {
              setTo(event.currentTarget.value);
              mutation.reset();
            }}
          />
        </Field>
        {isTaken ? (
          <div role="alert" className="mt-3 rounded-lg border border-warn bg-warn-soft px-3 py-2 text-warn">
            This path already exists. Replacing it deletes the existing entry and its content.
          </div>
        ) : (
          <ErrorAlert error={mutation.error} />
        )}
        <div className="mt-3">
          <CopyCurl
            method="POST"
            path={fileRoute(workspace, '/move')}
            body={{ from: entry.path, to, ...(isTaken ? { overwrite: true } : {}) }}
          />
        </div>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          {isTaken ? (
            <Button look="danger" busy={mutation.isPending} onClick={() => mutation.mutate(true)}>
              Replace
            </Button>
          ) : (
            <Button look="primary" type="submit" busy={mutation.isPending}>
              Move
            </Button>
          )}
        </DialogActions>
      </form>
    </Dialog>
  );
}
