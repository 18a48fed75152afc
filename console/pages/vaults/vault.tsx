import { getRouteApi } from '@tanstack/react-router';
import { vaults } from '../../api/vaults.ts';
import type { Vault } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { TextLink } from '../../parts/navigation/links.tsx';
import { ResourceLead } from '../../parts/resources/resource-lead.tsx';
import { ResourcePage } from '../../parts/resources/resource-page.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { Page } from '../../ui/page.tsx';
import { Credentials } from './credentials.tsx';
import { RotateVaultKey } from './rotation.tsx';
import { DeleteVault, EditVault, ToggleVault } from './vault-actions.tsx';
import { VaultState } from './vault-state.tsx';

const route = getRouteApi('/vaults/$vaultId');

export function VaultPage() {
  const { vaultId } = route.useParams();
  return (
    <AdministratorsOnly title="Vault">
      <ResourcePage
        key={vaultId}
        options={vaults.detail(vaultId)}
        title="Vault"
        path={`/admin/vaults/${vaultId}`}
      >
        {(vault) => <VaultContent vault={vault} />}
      </ResourcePage>
    </AdministratorsOnly>
  );
}

function VaultContent({ vault }: { vault: Vault }) {
  const { vault_id: vaultId, name, description, kind } = vault;
  return (
    <Page
      title={name || 'Personal vault'}
      above={<TextLink to="/vaults">Vaults</TextLink>}
      lead={
        <ResourceLead noun="vault" id={vaultId} description={description}>
          <VaultState vault={vault} />
        </ResourceLead>
      }
      actions={
        <>
          <CopyCurl path={`/admin/vaults/${vaultId}`} />
          {kind === 'shared' && <EditVault vault={vault} />}
          <ToggleVault vault={vault} />
          <RotateVaultKey vault={vault} />
          <DeleteVault vault={vault} />
        </>
      }
    >
      <Credentials vault={vault} />
    </Page>
  );
}
