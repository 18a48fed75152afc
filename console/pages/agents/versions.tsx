import { getRouteApi } from '@tanstack/react-router';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { runtimeShown } from '../../parts/editor/runtime-shown.ts';
import { Versions } from '../../parts/editor/versions.tsx';

const route = getRouteApi('/agents/$agentId');

/** What turns have run with, and what has changed in between. */
export function VersionsTab({ agent: { agent_id: id } }: { agent: Agent }) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <Versions
      lead="A session keeps the version it has begun with. Names, metadata and whether it is enabled belong to no version."
      pages={agents.versions(id)}
      path={`/agents/${id}/versions`}
      from={from}
      to={to}
      onChange={(pair) => void navigate({ search: { tab: 'versions', ...pair }, replace: true })}
      shown={runtimeShown}
    />
  );
}
