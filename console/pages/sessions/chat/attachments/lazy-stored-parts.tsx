import { lazy, Suspense } from 'react';
import { loadChunk } from '../../../../parts/navigation/load-chunk.ts';
import type { StoredPartsProps } from './stored-parts.tsx';

const StoredParts = lazy(async () => ({
  default: (await loadChunk(() => import('./stored-parts.tsx'))).StoredParts,
}));

/** The images and files of a message or a tool result. Their code loads with the first of them. */
export function LazyStoredParts(props: StoredPartsProps) {
  if (props.parts.length === 0) return null;
  return (
    <Suspense>
      <StoredParts {...props} />
    </Suspense>
  );
}
