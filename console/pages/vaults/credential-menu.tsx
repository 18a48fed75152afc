import { useQueryClient } from '@tanstack/react-query';
import { Ellipsis, KeyRound, PlugZap, Power, PowerOff, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { credentials } from '../../api/vaults.ts';
import type { Credential } from '../../gen/index.ts';
import { ConfirmAction } from '../../parts/actions/confirm-action.tsx';
import { messageOf } from '../../parts/errors/error-state.tsx';
import { IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Menu, MenuItem } from '../../ui/menu.tsx';
import { toast } from '../../ui/toast.tsx';
import { nameOf, TEST_TEXTS } from './labels.ts';
import { ReplaceSecretForm } from './replace-secret.tsx';

/** Menu with the actions of a credential in a list. */
export function CredentialMenu({ credential }: { credential: Credential }) {
  const { vault_id: vaultId, credential_id: id, revision, enabled } = credential;
  const [opened, setOpened] = useState<'replace' | 'toggle' | 'delete'>();
  const queries = useQueryClient();
  const name = nameOf(credential);
  const path = `/admin/vaults/${vaultId}/credentials/${id}`;
  const refresh = () => queries.invalidateQueries({ queryKey: ['vaults'] });
  const close = () => setOpened(undefined);
  const word = enabled ? 'Disable' : 'Enable';
  const change = { enabled: !enabled };
  async function test(): Promise<void> {
    try {
      const { status, detail } = await credentials.test(vaultId, id);
      const report = status === 'refused' || status === 'unreachable' ? toast.failed : toast.done;
      report(TEST_TEXTS[status], detail || undefined);
    } catch (error) {
      toast.failed('The test failed.', messageOf(error));
    }
    await refresh();
  }
  return (
    <>
      <Menu trigger={<IconButton label={`Actions for ${name}`} icon={<Ellipsis />} />}>
        <MenuItem icon={<PlugZap />} onSelect={() => void test()}>
          Test
        </MenuItem>
        <MenuItem icon={<KeyRound />} onSelect={() => setOpened('replace')}>
          Replace secret
        </MenuItem>
        <MenuItem icon={enabled ? <PowerOff /> : <Power />} onSelect={() => setOpened('toggle')}>
          {word}
        </MenuItem>
        <MenuItem icon={<Trash2 />} danger onSelect={() => setOpened('delete')}>
          Delete
        </MenuItem>
      </Menu>
      <Dialog open={opened === 'replace'} onClose={close} title={`Replace the secret of ${name}`}>
        <ReplaceSecretForm credential={credential} onDone={close} />
      </Dialog>
      <ConfirmAction
        open={opened === 'toggle'}
        onClose={close}
        title={`${word} ${name}?`}
        action={`${word} credential`}
        isMild={!enabled}
        run={() => credentials.update(vaultId, id, revision, change)}
        curl={{ method: 'PATCH', path, revision, body: change }}
        done={`The credential was ${enabled ? 'disabled' : 'enabled'}.`}
        onDone={refresh}
      >
        <p>{enabled ? 'It is no longer used. You can enable it again.' : 'It is used again.'}</p>
      </ConfirmAction>
      <ConfirmAction
        open={opened === 'delete'}
        onClose={close}
        title={`Delete ${name}?`}
        action="Delete credential"
        run={() => credentials.remove(vaultId, id)}
        curl={{ method: 'DELETE', path }}
        done="The credential was deleted."
        onDone={refresh}
      >
        <p>Its secret is deleted. This cannot be undone.</p>
      </ConfirmAction>
    </>
  );
}
