import { useAgentName } from '../../parts/agents/agent-name.tsx';
import { AgentPicker } from '../../parts/agents/agent-picker.tsx';

export interface AgentFilterProps {
  agentId: string | undefined;
  onChange: (agentId: string | undefined) => void;
}

/** Filters sessions by agent. A deleted agent is shown by its id. */
export function AgentFilter({ agentId, onChange }: AgentFilterProps) {
  const name = useAgentName(agentId);
  return (
    <div className="min-w-44 flex-1 sm:max-w-72">
      <AgentPicker
        label="Agent"
        placeholder="Any agent"
        value={agentId && name ? { agent_id: agentId, name } : null}
        onChange={(agent) => onChange(agent?.agent_id)}
      />
    </div>
  );
}
