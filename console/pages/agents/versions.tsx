import { getRouteApi } from '@tanstack/react-router';
import { GitCompareArrows } from 'lucide-react';
import { agents } from '../../api/agents.ts';
import type { Agent, AgentVersion } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { Compare } from '../../parts/editor/compare.tsx';
import { runtimeShown } from '../../parts/editor/runtime-shown.ts';
import { List, useList } from '../../parts/lists/list.tsx';
import { Empty } from '../../ui/empty.tsx';

const route = getRouteApi('/agents/$agentId');

/** What turns have run with, and what has changed in between. */
export function VersionsTab({ agent: { agent_id: agentId } }: { agent: Agent }) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(agents.versions(agentId));
  const curlOf = useCurl();
  const path = `/agents/${agentId}/versions`;
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-2">
        <p className="max-w-prose text-muted">
          A session keeps the version it has begun with. Names, metadata and whether it is enabled belong to
          no version.
        </p>
        <CopyCurl path={path} />
      </div>
      <List
        list={list}
        curl={curlOf({ path })}
        empty={<Empty icon={<GitCompareArrows />}>There are no versions.</Empty>}
      >
        {(versions) => (
          <Compare<AgentVersion>
            versions={versions}
            from={from}
            to={to}
            onChange={(pair) => void navigate({ search: { tab: 'versions', ...pair }, replace: true })}
            shown={runtimeShown}
          />
        )}
      </List>
    </>
  );
}
