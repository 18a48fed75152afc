import { useMutation, useQueryClient } from '@tanstack/react-query';
import { agents } from '../../../api/agents.ts';
import type { Agent } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { ErrorAlert } from '../../../parts/errors/error-state.tsx';
import { Badge } from '../../../ui/badge.tsx';
import { SwitchRow } from '../../../ui/form-section.tsx';
import { Select } from '../../../ui/select.tsx';
import { Switch } from '../../../ui/switch.tsx';
import { toast } from '../../../ui/toast.tsx';

type Exposure = Agent['exposure'];
export type ConnectedProtocol = keyof Exposure;

/** The protocols to which this page exposes an agent, and their clients in sentences. */
const PROTOCOLS: Record<ConnectedProtocol, { name: string; clients: string }> = {
  mcp: { name: 'MCP', clients: 'MCP clients' },
  openai: { name: 'OpenAI API', clients: 'Clients of the OpenAI API' },
  a2a: { name: 'A2A', clients: 'A2A clients' },
};

const A2A_STATES = [
  { value: 'off', text: 'Off' },
  { value: 'on', text: 'On' },
  { value: 'public', text: 'On, public card' },
] as const;

/** Whether clients of a protocol find the agent. Users who do not manage it cannot change this. */
export function ProtocolExposure({ agent, protocol }: { agent: Agent; protocol: ConnectedProtocol }) {
  const { agent_id: agentId, revision } = agent;
  const { name, clients } = PROTOCOLS[protocol];
  const state = agent.exposure[protocol];
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: (body: { exposure: Partial<Exposure> }) => agents.update(agentId, revision, body),
    onSuccess: (saved) => {
      queries.setQueryData(agents.detail(agentId).queryKey, saved);
      void queries.invalidateQueries({ queryKey: ['agents'] });
      const finds = saved.exposure[protocol] === 'off' ? 'do not find' : 'find';
      toast.done(`${clients} ${finds} the agent.`);
    },
    // Another user may have changed the agent, so that the revision is outdated.
    onError: () => void queries.invalidateQueries({ queryKey: agents.detail(agentId).queryKey }),
  });
  const change = (next: Partial<Exposure>) => {
    if (!isPending) mutate({ exposure: next });
  };
  const isManager = agent.access === 'manage';
  const who = `${clients} of all users who can use this agent find it.`;
  const hint = !isManager
    ? 'Only managers of the agent can change this.'
    : protocol === 'a2a'
      ? `${who} With a public card, everyone can read its name and description, also without a login.`
      : who;
  const opposite =
    protocol === 'a2a' ? a2aChange(state === 'off' ? 'on' : 'off') : switchChange(protocol, state);
  return (
    <>
      <SwitchRow text={name} hint={hint}>
        {!isManager ? (
          <Badge tone={state === 'off' ? 'plain' : 'good'}>{textOf(state)}</Badge>
        ) : protocol === 'a2a' ? (
          <Select
            label={name}
            value={agent.exposure.a2a}
            options={A2A_STATES}
            onChange={(next) => change(a2aChange(next))}
          />
        ) : (
          <Switch
            label={name}
            checked={state === 'on'}
            onChange={() => change(switchChange(protocol, state))}
          />
        )}
      </SwitchRow>
      <ErrorAlert error={error} />
      {isManager && (
        <div>
          <CopyCurl
            method="PATCH"
            path={`/agents/${agentId}`}
            revision={revision}
            body={{ exposure: opposite }}
            about={`exposure to ${name}`}
          />
        </div>
      )}
    </>
  );
}

const textOf = (state: string) => A2A_STATES.find(({ value }) => value === state)?.text ?? state;

const a2aChange = (state: Exposure['a2a']): Partial<Exposure> => ({ a2a: state });

function switchChange(protocol: 'mcp' | 'openai', state: string): Partial<Exposure> {
  const next = state === 'on' ? ('off' as const) : ('on' as const);
  return protocol === 'mcp' ? { mcp: next } : { openai: next };
}
