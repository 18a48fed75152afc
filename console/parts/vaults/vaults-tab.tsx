import { lazy, Suspense } from 'react';
import type { VaultTarget } from '../../api/vaults.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { loadChunk } from '../navigation/load-chunk.ts';

const VaultAssignments = lazy(async () => ({
  default: (await loadChunk(() => import('./vault-assignments.tsx'))).VaultAssignments,
}));

/** The tab with the vaults of an agent or assistant. Its code loads when it is opened. */
export function VaultsTab({ target, path }: { target: VaultTarget; path: string }) {
  return (
    <Suspense fallback={<Skeleton lines={3} />}>
      <VaultAssignments target={target} path={path} />
    </Suspense>
  );
}
