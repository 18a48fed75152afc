import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { extensions } from '../../api/extensions.ts';
import type { Agent, McpServer } from '../../gen/index.ts';
import { Button } from '../../ui/button.tsx';
import { AgentPicker } from '../agents/agent-picker.tsx';
import { ErrorAlert } from '../errors/error-state.tsx';
import { TextLink } from '../navigation/links.tsx';

/** Adds a server to the extensions of an agent, which makes a new version of the agent. */
export function AddToAgent({ server: { mcp_server_id: id, name } }: { server: McpServer }) {
  const [agent, setAgent] = useState<Agent | null>(null);
  const queries = useQueryClient();
  const {
    mutate,
    isPending,
    error,
    data: added,
  } = useMutation({
    mutationFn: async (chosen: Agent) => {
      const target = { agentId: chosen.agent_id };
      const current = await queries.fetchQuery({ ...extensions.of(target), staleTime: 0 });
      if (!current.mcp_server_ids.includes(id))
        await extensions.put(target, current.revision, { mcp_server_ids: [...current.mcp_server_ids, id] });
      return chosen;
    },
    onSuccess: () => queries.invalidateQueries({ queryKey: ['agents'] }),
  });
  return (
    <section aria-labelledby="add-to-agent" className="flex flex-col gap-2">
      <h2 id="add-to-agent" className="font-semibold">
        Add to an agent
      </h2>
      <div className="flex flex-wrap items-center gap-2">
        <div className="w-72 max-w-full">
          <AgentPicker label="Agent" value={agent} onChange={setAgent} managed />
        </div>
        <Button
          look="primary"
          busy={isPending}
          disabled={agent === null}
          onClick={() => agent && mutate(agent)}
        >
          <Plus aria-hidden />
          Add {name}
        </Button>
      </div>
      <p role="status" className="text-[13px] text-muted wrap-anywhere empty:hidden">
        {added && (
          <>
            <TextLink
              to="/agents/$agentId"
              params={{ agentId: added.agent_id }}
              search={{ tab: 'extensions' }}
            >
              {added.name}
            </TextLink>{' '}
            has this server.
          </>
        )}
      </p>
      <ErrorAlert error={error} />
    </section>
  );
}
