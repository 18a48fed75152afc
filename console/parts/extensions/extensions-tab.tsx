import { lazy, Suspense } from 'react';
import { Skeleton } from '../../ui/skeleton.tsx';
import { loadChunk } from '../navigation/load-chunk.ts';
import type { ExtensionsEditorProps } from './extensions-editor.tsx';

const ExtensionsEditor = lazy(async () => ({
  default: (await loadChunk(() => import('./extensions-editor.tsx'))).ExtensionsEditor,
}));

/** The tab with the MCP servers and skills of an agent or assistant. Its code loads when it is opened. */
export function ExtensionsTab(props: ExtensionsEditorProps) {
  return (
    <Suspense fallback={<Skeleton lines={3} />}>
      <ExtensionsEditor {...props} />
    </Suspense>
  );
}
