import { useMutation, useQueryClient } from '@tanstack/react-query';
import { agents } from '../../../api/agents.ts';
import type { Agent } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { SwitchRow } from '../../../ui/form-section.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { toast } from '../../../ui/toast.tsx';

/** The protocols to which this page exposes an agent, and their clients in sentences. */
const PROTOCOLS = {
  mcp: { name: 'MCP', clients: 'MCP clients' },
  openai: { name: 'OpenAI API', clients: 'Clients of the OpenAI API' },
} as const;

export type ConnectedProtocol = keyof typeof PROTOCOLS;

/** Whether clients of a protocol find the agent. Users who do not manage it cannot change this. */
export function ProtocolExposure({ agent, protocol }: { agent: Agent; protocol: ConnectedProtocol }) {
  const { agent_id: agentId, revision } = agent;
  const { name, clients } = PROTOCOLS[protocol];
  const isExposed = agent.exposure[protocol] === 'on';
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: ReturnType<typeof changeOf>) => agents.update(agentId, revision, body),
    onSuccess: (saved) => {
      queries.setQueryData(agents.detail(agentId).queryKey, saved);
      void queries.invalidateQueries({ queryKey: ['agents'] });
      const finds = saved.exposure[protocol] === 'on' ? 'find' : 'do not find';
      toast.done(`${clients} ${finds} the agent.`);
    },
    // Another user may have changed the agent, so that the revision is outdated.
    onError: () => void queries.invalidateQueries({ queryKey: agents.detail(agentId).queryKey }),
  });
  const isManager = agent.access === 'manage';
  const hint = isManager
    ? `${clients} of all users who can use this agent find it.`
    : 'Only managers of the agent can change this.';
  return (
    <>
      <SwitchRow text={name} hint={hint}>
        {isManager ? (
          <Switch
            label={name}
            checked={isExposed}
            onChange={(checked) => {
              if (!isPending) mutate(changeOf(protocol, checked));
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
            body={changeOf(protocol, !isExposed)}
            about={`exposure to ${name}`}
          />
        </div>
      )}
    </>
  );
}

function changeOf(protocol: ConnectedProtocol, isExposed: boolean) {
  const state = isExposed ? ('on' as const) : ('off' as const);
  return { exposure: protocol === 'mcp' ? { mcp: state } : { openai: state } };
}
