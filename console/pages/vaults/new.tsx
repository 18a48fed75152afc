import { linkOptions } from '@tanstack/react-router';
import { vaults } from '../../api/vaults.ts';
import { CreatePage } from '../../parts/editor/create-page.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { EMPTY_VAULT_DRAFT, readVaultDraft } from './draft.ts';
import { VaultFields } from './fields.tsx';

export function NewVaultPage() {
  return (
    <AdministratorsOnly title="New vault">
      <CreatePage
        noun="vault"
        empty={EMPTY_VAULT_DRAFT}
        read={readVaultDraft}
        create={vaults.create}
        path="/admin/vaults"
        pageOf={({ vault_id: vaultId }) => linkOptions({ to: '/vaults/$vaultId', params: { vaultId } })}
      >
        {(form) => <VaultFields {...form} />}
      </CreatePage>
    </AdministratorsOnly>
  );
}
