import { useQuery } from '@tanstack/react-query';
import { assistants } from '../../api/assistants.ts';
import { CopyCurl } from '../../parts/copy-curl.tsx';
import { curlOf } from '../../parts/curl.ts';
import { Failure } from '../../parts/failure.tsx';
import { useViewer } from '../../parts/viewer.ts';
import { shownBytes } from '../../ui/bytes.ts';
import { Facts } from '../../ui/facts.tsx';
import { Card } from '../../ui/page.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { Time } from '../../ui/time.tsx';

/** How full the workspace is that all sessions of the assistant share. */
export function WorkspaceSummary({ assistantId }: { assistantId: string }) {
  const { data, error, refetch } = useQuery(assistants.workspace(assistantId));
  const { isTeam } = useViewer();
  const path = `/assistants/${assistantId}/workspace`;
  return (
    <section aria-label="Workspace" className="mb-4">
      <div className="mb-2 flex items-center justify-between">
        <h2 className="font-semibold">Workspace</h2>
        <CopyCurl path={path} />
      </div>
      <Card>
        {data ? (
          <Facts
            facts={[
              {
                name: 'Files',
                value: `${data.files.toLocaleString('en')} of ${data.max_files.toLocaleString('en')}`,
              },
              { name: 'Size', value: `${shownBytes(data.bytes)} of ${shownBytes(data.max_bytes)}` },
              { name: 'Version', value: data.version === 0 ? 'Nothing was ever in it' : data.version },
              { name: 'Changed', value: data.updated_at ? <Time at={data.updated_at} /> : 'Never' },
            ]}
          />
        ) : error ? (
          <Failure error={error} onRetry={() => void refetch()} curl={curlOf({ path, isTeam })} />
        ) : (
          <Skeleton lines={2} />
        )}
      </Card>
    </section>
  );
}
