import { lazy, Suspense } from 'react';
import { loadChunk } from '../../../parts/navigation/load-chunk.ts';
import { Skeleton } from '../../../ui/skeleton.tsx';
import type { ConnectProps } from './connect.tsx';

const Connect = lazy(async () => ({ default: (await loadChunk(() => import('./connect.tsx'))).Connect }));

/** The tab that connects clients of protocols to an agent. Its code loads when it is opened. */
export function ConnectTab(props: ConnectProps) {
  return (
    <Suspense fallback={<Skeleton lines={6} />}>
      <Connect {...props} />
    </Suspense>
  );
}
