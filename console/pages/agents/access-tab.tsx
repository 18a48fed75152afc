import { lazy, Suspense } from 'react';
import type { Agent } from '../../gen/index.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { Skeleton } from '../../ui/skeleton.tsx';

const Access = lazy(async () => ({ default: (await loadChunk(() => import('./access.tsx'))).Access }));

/** The tab with the access settings of an agent. Its code loads when it is opened. */
export function AccessTab(props: { agent: Agent }) {
  return (
    <Suspense fallback={<Skeleton lines={6} />}>
      <Access {...props} />
    </Suspense>
  );
}
