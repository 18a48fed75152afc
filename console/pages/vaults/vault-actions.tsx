import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Pencil } from 'lucide-react';
import { useState } from 'react';
import { vaults } from '../../api/vaults.ts';
import type { Vault } from '../../gen/index.ts';
import { ToggleResource } from '../../parts/actions/toggle-resource.tsx';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { DeleteResource } from '../../parts/editor/delete-resource.tsx';
import { ValidatedForm } from '../../parts/editor/form.tsx';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { toast } from '../../ui/toast.tsx';
import { readVaultDraft } from './draft.ts';
import { VaultFields } from './fields.tsx';

interface VaultProps {
  vault: Vault;
}

const CONSEQUENCES = {
  disable: 'Its credentials are no longer used. Agents and assistants keep the assignment.',
  enable: 'Agents and assistants that have the vault use its credentials again.',
};

export function ToggleVault({ vault }: VaultProps) {
  const { vault_id: id, name, revision } = vault;
  const queries = useQueryClient();
  return (
    <ToggleResource
      noun="vault"
      name={name || 'this personal vault'}
      resource={vault}
      path={`/admin/vaults/${id}`}
      run={(change) => vaults.update(id, revision, change)}
      onDone={() => queries.invalidateQueries({ queryKey: ['vaults'] })}
      consequences={CONSEQUENCES}
    />
  );
}

/** An assigned vault cannot be deleted, and the dialog says so before the request. */
export function DeleteVault({
  vault: { vault_id: id, name, credential_count: credentials, assignment_count: assignments },
}: VaultProps) {
  return (
    <DeleteResource
      noun="vault"
      id={id}
      name={name || 'this personal vault'}
      path={`/admin/vaults/${id}`}
      run={() => vaults.remove(id)}
    >
      {assignments > 0 && (
        <p className="font-medium">
          This vault is in use:{' '}
          {assignments === 1 ? 'one agent or assistant has' : `${assignments} agents or assistants have`} it.
          Remove it there first.
        </p>
      )}
      <p>
        {credentials === 1
          ? 'Its credential and its keys are'
          : `Its ${credentials} credentials and its keys are`}{' '}
        deleted. This cannot be undone.
      </p>
    </DeleteResource>
  );
}

export function EditVault({ vault }: VaultProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onClick={() => setOpen(true)}>
        <Pencil aria-hidden />
        Edit
      </Button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title="Edit vault">
        <EditForm vault={vault} onDone={() => setOpen(false)} />
      </Dialog>
    </>
  );
}

function EditForm({ vault, onDone }: VaultProps & { onDone: () => void }) {
  const { vault_id: id, name, description, revision } = vault;
  const [draft, setDraft] = useState({ name, description });
  const queries = useQueryClient();
  const { body, problems: wrong } = readVaultDraft(draft);
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => vaults.update(id, revision, body),
    onSuccess: async () => {
      onDone();
      toast.done('The vault was saved.');
      await queries.invalidateQueries({ queryKey: ['vaults'] });
    },
  });
  return (
    <ValidatedForm
      label="Edit vault"
      localProblems={wrong}
      error={error}
      onSubmit={() => {
        if (!isPending) mutate();
      }}
    >
      {(problems) => (
        <>
          <VaultFields
            draft={draft}
            onChange={(changes) => setDraft((before) => ({ ...before, ...changes }))}
            problems={problems}
          />
          <ErrorAlert error={error} />
          <DialogActions>
            <CopyCurl method="PATCH" path={`/admin/vaults/${id}`} revision={revision} body={body} />
            <Button type="submit" look="primary" busy={isPending}>
              Save
            </Button>
          </DialogActions>
        </>
      )}
    </ValidatedForm>
  );
}
