import { getRouteApi } from '@tanstack/react-router';
import { GitCompareArrows } from 'lucide-react';
import { environments } from '../../api/environments.ts';
import type { Environment, EnvironmentVersion } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { Compare } from '../../parts/editor/compare.tsx';
import { List, useList } from '../../parts/lists/list.tsx';
import { Empty } from '../../ui/empty.tsx';
import { environmentShown } from './words.ts';

const route = getRouteApi('/environments/$environmentId');

/** What the environment has been, and what has changed in between. */
export function VersionsTab({
  environment: { environment_id: environmentId },
}: {
  environment: Environment;
}) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(environments.versions(environmentId));
  const curlOf = useCurl();
  const path = `/admin/environments/${environmentId}/versions`;
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-prose text-muted">A sandbox keeps the version it was made with.</p>
        <CopyCurl path={path} />
      </div>
      <List
        list={list}
        curl={curlOf({ path })}
        empty={<Empty icon={<GitCompareArrows />}>There are no versions.</Empty>}
      >
        {(versions) => (
          <Compare<EnvironmentVersion>
            versions={versions}
            from={from}
            to={to}
            onChange={(pair) => void navigate({ search: { tab: 'versions', ...pair }, replace: true })}
            shown={environmentShown}
          />
        )}
      </List>
    </>
  );
}
