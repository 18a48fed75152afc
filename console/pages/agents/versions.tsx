import { getRouteApi } from '@tanstack/react-router';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { runtimeFields } from '../../parts/editor/displayed-fields.ts';
import { FieldComparison } from '../../parts/editor/field-comparison.tsx';
import { VersionHistory } from '../../parts/editor/version-history.tsx';

const route = getRouteApi('/agents/$agentId');

/** Version history of an agent. */
export function AgentVersionsTab({ agent: { agent_id: id } }: { agent: Agent }) {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <VersionHistory
      lead="A session keeps the version it started with. Name, description, metadata and state are not versioned."
      pages={agents.versions(id)}
      path={`/agents/${id}/versions`}
      from={from}
      to={to}
      onChange={(pair) => void navigate({ search: { tab: 'versions', ...pair }, replace: true })}
    >
      {(after, before) => (
        <FieldComparison before={before && runtimeFields(before)} after={runtimeFields(after)} />
      )}
    </VersionHistory>
  );
}
