import { KeySquare, Plus } from 'lucide-react';
import { useState } from 'react';
import { credentials } from '../../api/vaults.ts';
import type { Credential, Vault } from '../../gen/index.ts';
import { useList } from '../../parts/resources/list.tsx';
import { Listing } from '../../parts/resources/listing.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { CredentialForm } from './credential-form.tsx';
import { CredentialMenu } from './credential-menu.tsx';
import { destinationOf, nameOf, STATUS_TONES, TYPE_LABELS } from './labels.ts';

const COLUMNS: readonly Column<Credential>[] = [
  { name: 'Name', className: 'w-[26%]', cell: (credential) => <CredentialCell credential={credential} /> },
  {
    name: 'Destination',
    className: 'w-[30%]',
    cell: (credential) => <TruncatedText text={destinationOf(credential)} />,
  },
  { name: 'Secret', className: 'w-40', cell: (credential) => <SecretHint credential={credential} /> },
  { name: 'Status', className: 'w-32', cell: (credential) => <CredentialStatus credential={credential} /> },
  { name: 'Last used', className: 'w-32', cell: ({ last_used_at: at }) => (at ? <Time at={at} /> : 'Never') },
  {
    name: 'Actions',
    hideName: true,
    className: 'w-14',
    cell: (credential) => <CredentialMenu credential={credential} />,
  },
];

/** The credentials of a vault. Those of a personal vault are made by connecting. */
export function Credentials({ vault: { vault_id: vaultId, kind } }: { vault: Vault }) {
  const list = useList(credentials.list(vaultId));
  const [isCreating, setCreating] = useState(false);
  const create = kind === 'shared' && (
    <Button look="primary" onClick={() => setCreating(true)}>
      <Plus aria-hidden />
      New credential
    </Button>
  );
  return (
    <section aria-labelledby="credentials">
      <div className="mb-3 flex flex-wrap items-center justify-between gap-2">
        <h2 id="credentials" className="font-semibold">
          Credentials
        </h2>
        {create}
      </div>
      <Listing
        noun="credentials"
        list={list}
        keyOf={({ credential_id: id }) => id}
        columns={COLUMNS}
        card={(credential) => <CredentialCard credential={credential} />}
        curl={{ path: `/admin/vaults/${vaultId}/credentials` }}
        empty={<EmptyState icon={<KeySquare />}>No credentials yet.</EmptyState>}
      />
      <Dialog open={isCreating} onClose={() => setCreating(false)} title="New credential">
        <CredentialForm vaultId={vaultId} onDone={() => setCreating(false)} />
      </Dialog>
    </section>
  );
}

interface CredentialProps {
  credential: Credential;
}

function CredentialCell({ credential }: CredentialProps) {
  return (
    <>
      <TruncatedText text={nameOf(credential)} className="font-medium" />
      <span className="text-[13px] text-muted">{TYPE_LABELS[credential.type]}</span>
    </>
  );
}

function CredentialStatus({ credential: { status, status_reason: reason } }: CredentialProps) {
  return (
    <span title={reason ?? undefined}>
      <Badge tone={STATUS_TONES[status]}>{status}</Badge>
    </span>
  );
}

/** The fingerprint of a secret, and the last characters of a long one. */
function SecretHint({ credential: { fingerprint, last_four: lastFour } }: CredentialProps) {
  return (
    <span className="font-mono text-xs text-muted">
      {fingerprint}
      {lastFour && ` …${lastFour}`}
    </span>
  );
}

function CredentialCard({ credential }: CredentialProps) {
  return (
    <div className="flex items-start gap-2">
      <div className="flex min-w-0 flex-1 flex-col gap-1.5">
        <CredentialCell credential={credential} />
        <TruncatedText text={destinationOf(credential)} className="text-[13px]" />
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <CredentialStatus credential={credential} />
          <SecretHint credential={credential} />
        </div>
      </div>
      <CredentialMenu credential={credential} />
    </div>
  );
}
