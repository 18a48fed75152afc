import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RefreshCcw } from 'lucide-react';
import { useState } from 'react';
import { vaults } from '../../api/vaults.ts';
import type { Vault } from '../../gen/index.ts';
import { ActionButton } from '../../parts/actions/action-button.tsx';
import { ErrorAlert } from '../../parts/errors/error-state.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Progress } from '../../ui/progress.tsx';

export function RotateAllKeys() {
  return (
    <RotateKeys title="Wrap all data keys again?" action="Wrap keys">
      <p>
        The data keys of all vaults are encrypted with the current key-encryption key. Use this after you have
        changed <code className="font-mono text-[13px]">SERVICE_SEALING_KEY</code>. Credentials stay usable.
      </p>
    </RotateKeys>
  );
}

export function RotateVaultKey({ vault: { vault_id: vaultId, name } }: { vault: Vault }) {
  return (
    <RotateKeys
      vaultId={vaultId}
      title={`Rotate the data key of ${name || 'this personal vault'}?`}
      action="Rotate key"
    >
      <p>The vault gets a new data key, and its credentials are encrypted again. They stay usable.</p>
    </RotateKeys>
  );
}

interface RotateKeysProps {
  vaultId?: string;
  title: string;
  action: string;
  children: React.ReactNode;
}

/** Starts a rotation after a confirmation and shows its progress. */
function RotateKeys({ vaultId, title, action, children }: RotateKeysProps) {
  const [rotationId, setRotationId] = useState<string>();
  return (
    <>
      <ActionButton
        button={
          <Button>
            <RefreshCcw aria-hidden />
            Rotate keys
          </Button>
        }
        title={title}
        action={action}
        isMild
        run={async () => setRotationId((await vaults.rotate(vaultId)).rotation_id)}
        curl={{ method: 'POST', path: '/admin/vaults/rotate', body: vaultId ? { vault_id: vaultId } : {} }}
        done="The rotation has started."
      >
        {children}
      </ActionButton>
      {rotationId !== undefined && (
        <RotationProgress rotationId={rotationId} onClose={() => setRotationId(undefined)} />
      )}
    </>
  );
}

const STATUS_TEXTS = {
  running: 'The rotation is running. It continues when you close this dialog.',
  done: 'The rotation is done.',
  failed: 'The rotation has failed. Start it again to continue.',
};

function RotationProgress({ rotationId, onClose }: { rotationId: string; onClose: () => void }) {
  const queries = useQueryClient();
  const { data, error } = useQuery(vaults.rotation(rotationId));
  const { done = 0, total = 0, status = 'running' } = data ?? {};
  const close = () => {
    onClose();
    void queries.invalidateQueries({ queryKey: ['vaults'] });
  };
  return (
    <Dialog open onClose={close} title="Rotation of keys" initialFocus="title">
      <div className="flex flex-col gap-3">
        <Progress
          label="Progress of the rotation"
          fraction={total === 0 ? Number(status === 'done') : done / total}
        />
        <p>
          {done} of {total}
        </p>
        <p role="status">{STATUS_TEXTS[status]}</p>
        <ErrorAlert error={error} />
      </div>
      <DialogActions>
        <Button look="primary" onClick={close}>
          Close
        </Button>
      </DialogActions>
    </Dialog>
  );
}
