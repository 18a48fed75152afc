import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { assistants } from '../../api/assistants.ts';
import type { Workspace } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ErrorState } from '../../parts/errors/error-state.tsx';
import { useQueryFailure } from '../../parts/errors/use-query-failure.ts';
import { loadChunk } from '../../parts/navigation/load-chunk.ts';
import { formatBytes } from '../../ui/bytes.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';

const FileBrowser = lazy(async () => ({
  default: (await loadChunk(() => import('../../parts/files/browser.tsx'))).FileBrowser,
}));

export interface WorkspaceFilesProps {
  assistantId: string;
  readOnly: boolean;
  /** The selected file or folder. */
  path: string | undefined;
  onPath: (path: string | undefined) => void;
}

/** Usage and files of the workspace of an assistant. */
export function WorkspaceFiles({ assistantId, readOnly, path, onPath }: WorkspaceFilesProps) {
  const workspace = useQuery(assistants.workspace(assistantId));
  return (
    <Suspense fallback={<Skeleton />}>
      <FileBrowser
        workspace={{ kind: 'assistant', id: assistantId }}
        path={path}
        onPath={onPath}
        readOnly={readOnly}
        change={workspace.data?.version ?? 0}
        summary={<WorkspaceUsage assistantId={assistantId} workspace={workspace} />}
        onRetry={() => void workspace.refetch()}
      />
    </Suspense>
  );
}

interface WorkspaceUsageProps {
  assistantId: string;
  workspace: UseQueryResult<Workspace>;
}

function WorkspaceUsage({ assistantId, workspace }: WorkspaceUsageProps) {
  const { data } = workspace;
  const failure = useQueryFailure(workspace);
  const curlOf = useCurl();
  const path = `/assistants/${assistantId}/workspace`;
  if (failure) return <ErrorState {...failure} curl={curlOf({ path })} />;
  if (!data) return <Skeleton lines={1} />;
  const { files, max_files: mostFiles, bytes, max_bytes: mostBytes, updated_at: updatedAt } = data;
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <p className="text-muted">
        {files.toLocaleString('en')} of {mostFiles.toLocaleString('en')} files, {formatBytes(bytes)} of{' '}
        {formatBytes(mostBytes)}.{' '}
        {updatedAt ? (
          <>
            Updated <Time at={updatedAt} />.
          </>
        ) : (
          'Never used.'
        )}
      </p>
      <CopyCurl path={path} about="workspace" />
    </div>
  );
}
