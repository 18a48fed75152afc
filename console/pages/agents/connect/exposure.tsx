import { useMutation, useQueryClient } from '@tanstack/react-query';
import { agents } from '../../../api/agents.ts';
import type { Agent } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { SwitchRow } from '../../../ui/form-section.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { toast } from '../../../ui/toast.tsx';

/** Whether MCP clients find the agent. Users who do not manage it cannot change this. */
export function McpExposure({ agent }: { agent: Agent }) {
  const { agent_id: agentId, revision } = agent;
  const isExposed = agent.exposure.mcp === 'on';
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: ReturnType<typeof changeOf>) => agents.update(agentId, revision, body),
    onSuccess: (saved) => {
      queries.setQueryData(agents.detail(agentId).queryKey, saved);
      void queries.invalidateQueries({ queryKey: ['agents'] });
      toast.done(
        saved.exposure.mcp === 'on' ? 'MCP clients find the agent.' : 'MCP clients do not find the agent.',
      );
    },
    // Another user may have changed the agent, so that the revision is outdated.
    onError: () => void queries.invalidateQueries({ queryKey: agents.detail(agentId).queryKey }),
  });
  const isManager = agent.access === 'manage';
  const hint = isManager
    ? 'MCP clients of all users who can use this agent find it.'
    : 'Whether MCP clients find this agent. Only its managers can change this.';
  return (
    <>
      <SwitchRow text="MCP" hint={hint}>
        {isManager ? (
          <Switch
            label="MCP"
            checked={isExposed}
            onChange={(checked) => {
              if (!isPending) mutate(changeOf(checked));
            }}
          />
        ) : (
          <Badge tone={isExposed ? 'good' : 'plain'}>{isExposed ? 'On' : 'Off'}</Badge>
        )}
      </SwitchRow>
      <ErrorAlert error={error} />
      {isManager && (
        <div>
          <CopyCurl
            method="PATCH"
            path={`/agents/${agentId}`}
            revision={revision}
            body={changeOf(!isExposed)}
            about="exposure"
          />
        </div>
      )}
    </>
  );
}

function changeOf(isExposed: boolean) {
  return { exposure: { mcp: isExposed ? ('on' as const) : ('off' as const) } };
}
