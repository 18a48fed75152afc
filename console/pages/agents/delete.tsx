import { useQueryClient } from '@tanstack/react-query';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { DeleteResource } from '../../parts/editor/delete-resource.tsx';

export function DeleteAgent({ agent: { agent_id: id, name } }: { agent: Agent }) {
  const queries = useQueryClient();
  return (
    <DeleteResource
      noun="agent"
      id={id}
      name={name}
      path={`/agents/${id}`}
      run={() => agents.remove(id)}
      onDone={() => void queries.invalidateQueries({ queryKey: ['deployments'] })}
    >
      <p>
        No new conversations can start, and its webhooks reject every request, and its schedules pause after
        five runs that could not start. Existing sessions stay readable. This cannot be undone. To pause the
        agent, disable it instead.
      </p>
    </DeleteResource>
  );
}
