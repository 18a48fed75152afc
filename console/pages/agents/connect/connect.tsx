import { useState } from 'react';
import { API_BASE } from '../../../api/client.ts';
import type { Agent } from '../../../gen/index.ts';
import { LeaveGuard } from '../../../parts/editor/leave-guard.tsx';
import { useViewer } from '../../../parts/users/viewer.ts';
import { Copyable } from '../../../ui/code.tsx';
import { FormSection } from '../../../ui/form-section.tsx';
import { RadioOptions } from '../../../ui/radio-options.tsx';
import { A2aSection } from './a2a.tsx';
import { McpClients } from './clients.tsx';
import { ProtocolExposure } from './exposure.tsx';
import { OpenaiSection } from './openai.tsx';
import { serverNameOf } from './snippets.ts';
import { TokenSection } from './token.tsx';

export interface ConnectProps {
  agent: Agent;
}

const CHOICES = [
  {
    value: 'agent',
    text: 'This agent',
    about: 'The client gets a tool for this agent, and your sessions with it.',
  },
  {
    value: 'all',
    text: 'All agents',
    about: 'The client gets a tool for each agent that you can use, also for new ones.',
  },
] as const;

type Choice = (typeof CHOICES)[number]['value'];

/** How clients of protocols are connected to an agent. */
export function Connect({ agent }: ConnectProps) {
  const { isTeam } = useViewer();
  const [choice, setChoice] = useState<Choice>('agent');
  // The only copy of the value of a new token, until the user has stored it.
  const [token, setToken] = useState<string>();
  const { mcp, openai, a2a } = agent.exposure;
  const endpoint = `${location.origin}${API_BASE}/mcp`;
  const server =
    choice === 'all'
      ? { name: 'agent-hosting-service', url: endpoint }
      : { name: serverNameOf(agent.name), url: `${endpoint}/agents/${agent.agent_id}` };
  return (
    <>
      <FormSection
        title="Exposure"
        lead="Determines whether the agent is found, not who can use it. A change takes effect immediately."
      >
        <ProtocolExposure agent={agent} protocol="mcp" />
        <ProtocolExposure agent={agent} protocol="openai" />
        <ProtocolExposure agent={agent} protocol="a2a" />
      </FormSection>
      {isTeam && (mcp === 'on' || openai === 'on' || a2a !== 'off') && (
        <TokenSection isShown={token !== undefined} onToken={setToken} />
      )}
      {mcp === 'on' && (
        <>
          <FormSection
            title="MCP server"
            lead="Clients of the Model Context Protocol, such as editors and chat programs, delegate work to agents with it."
          >
            <RadioOptions
              label="Agents of the server"
              value={choice}
              options={CHOICES}
              onChange={setChoice}
            />
            <div>
              <div className="font-medium">URL</div>
              <Copyable text={server.url} label="Copy the URL" />
            </div>
            {!isTeam && (
              <p className="text-muted">This service runs without logins, so clients need no token.</p>
            )}
          </FormSection>
          <FormSection title="Clients" lead="Copy the text for your client.">
            <McpClients server={{ ...server, isTeam, token }} />
          </FormSection>
        </>
      )}
      {openai === 'on' && (
        <OpenaiSection
          endpoint={{
            url: `${location.origin}${API_BASE}/openai/v1`,
            model: agent.agent_id,
            isTeam,
            token,
          }}
        />
      )}
      {a2a !== 'off' && (
        <A2aSection
          endpoint={{ url: `${location.origin}${API_BASE}/a2a/${agent.agent_id}`, isTeam, token }}
          isPublic={a2a === 'public'}
        />
      )}
      <LeaveGuard
        isDirty={token !== undefined}
        tabs
        title="Have you stored the token?"
        description="The token cannot be shown again."
      />
    </>
  );
}
