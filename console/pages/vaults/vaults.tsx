import { getRouteApi } from '@tanstack/react-router';
import { Plus, Vault as VaultIcon } from 'lucide-react';
import { vaults } from '../../api/vaults.ts';
import type { Vault } from '../../gen/index.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { useShortcut } from '../../parts/navigation/shortcuts.ts';
import { Catalogue } from '../../parts/resources/catalogue.tsx';
import { useList } from '../../parts/resources/list.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { RotateAllKeys } from './rotation.tsx';
import { VaultState } from './vault-state.tsx';

const route = getRouteApi('/vaults');

const COLUMNS: readonly Column<Vault>[] = [
  { name: 'Name', className: 'w-[38%]', cell: (vault) => <VaultCell vault={vault} /> },
  { name: 'Credentials', className: 'w-28', cell: ({ credential_count: count }) => count },
  { name: 'Used by', className: 'w-36', cell: (vault) => usersOf(vault) },
  { name: 'State', className: 'w-44', cell: (vault) => <VaultState vault={vault} /> },
  { name: 'Updated', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

export function VaultsPage() {
  return (
    <AdministratorsOnly title="Vaults">
      <VaultCatalogue />
    </AdministratorsOnly>
  );
}

function VaultCatalogue() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(vaults.list(q));
  useShortcut('n', 'New vault', () => void navigate({ to: '/vaults/new' }));
  return (
    <Catalogue
      title="Vaults"
      lead="Credentials for MCP servers, hosts and model providers. Their secrets are never shown."
      noun="vaults"
      q={q}
      onSearch={(words) => void navigate({ search: { q: words }, replace: true })}
      path="/admin/vaults"
      list={list}
      keyOf={({ vault_id: id }) => id}
      columns={COLUMNS}
      card={(vault) => <VaultCard vault={vault} />}
      create={
        <>
          <RotateAllKeys />
          <ButtonLink to="/vaults/new" look="primary">
            <Plus aria-hidden />
            New vault
          </ButtonLink>
        </>
      }
      all={
        <ButtonLink to="/vaults" search={{}}>
          Show all
        </ButtonLink>
      }
      none={
        <EmptyState icon={<VaultIcon />}>
          No vaults yet. A vault holds credentials that agents use without seeing them.
        </EmptyState>
      }
    />
  );
}

function usersOf({ assignment_count: count }: Vault): string {
  if (count === 0) return 'Not assigned';
  return count === 1 ? '1 agent or assistant' : `${count} agents or assistants`;
}

function VaultCell({ vault: { vault_id: vaultId, name } }: { vault: Vault }) {
  return (
    <TextLink to="/vaults/$vaultId" params={{ vaultId }} className="block">
      <TruncatedText text={name || 'Personal vault'} />
    </TextLink>
  );
}

function VaultCard({ vault }: { vault: Vault }) {
  const count = vault.credential_count;
  return (
    <div className="flex flex-col gap-1.5">
      <VaultCell vault={vault} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <VaultState vault={vault} />
        {count === 1 ? '1 credential' : `${count} credentials`}
        <Time at={vault.updated_at} />
      </div>
    </div>
  );
}
