import type { Vault } from '../../gen/index.ts';
import { Badge } from '../../ui/badge.tsx';

export function VaultState({ vault: { enabled, kind } }: { vault: Pick<Vault, 'enabled' | 'kind'> }) {
  return (
    <span className="inline-flex flex-wrap gap-1.5">
      {enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>}
      {kind === 'personal' && <Badge tone="accent">Personal</Badge>}
    </span>
  );
}
