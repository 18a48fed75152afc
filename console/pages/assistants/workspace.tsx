import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { assistants } from '../../api/assistants.ts';
import type { Workspace as WorkspaceFacts } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { Failure } from '../../parts/faults/failure.tsx';
import { useFailure } from '../../parts/faults/use-failure.ts';
import { piece } from '../../parts/piece.ts';
import { shownBytes } from '../../ui/bytes.ts';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';

const FileBrowser = lazy(async () => ({
  default: (await piece(() => import('../../parts/files/browser.tsx'))).FileBrowser,
}));

export interface WorkspaceProps {
  assistantId: string;
  readOnly: boolean;
  /** The file or folder that is looked at. */
  path: string | undefined;
  onPath: (path: string | undefined) => void;
}

/** The workspace that all sessions of the assistant share: how full it is, and the files in it. */
export function Workspace({ assistantId, readOnly, path, onPath }: WorkspaceProps) {
  const workspace = useQuery(assistants.workspace(assistantId));
  return (
    <Suspense fallback={<Skeleton />}>
      <FileBrowser
        place={{ kind: 'assistant', id: assistantId }}
        path={path}
        onPath={onPath}
        readOnly={readOnly}
        change={workspace.data?.version ?? 0}
        summary={<Summary assistantId={assistantId} workspace={workspace} />}
        onRetry={() => void workspace.refetch()}
      />
    </Suspense>
  );
}

interface SummaryProps {
  assistantId: string;
  workspace: UseQueryResult<WorkspaceFacts>;
}

function Summary({ assistantId, workspace }: SummaryProps) {
  const { data } = workspace;
  const failure = useFailure(workspace);
  const curlOf = useCurl();
  const path = `/assistants/${assistantId}/workspace`;
  if (failure) return <Failure {...failure} curl={curlOf({ path })} />;
  if (!data) return <Skeleton lines={1} />;
  const { files, max_files: mostFiles, bytes, max_bytes: mostBytes, updated_at: updatedAt } = data;
  return (
    <div className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
      <p className="text-muted">
        {files.toLocaleString('en')} of {mostFiles.toLocaleString('en')} files, {shownBytes(bytes)} of{' '}
        {shownBytes(mostBytes)}.{' '}
        {updatedAt ? (
          <>
            Changed <Time at={updatedAt} />.
          </>
        ) : (
          'Nothing was ever in it.'
        )}
      </p>
      <CopyCurl path={path} about="its workspace" />
    </div>
  );
}
