import { MessagesSquare, Plus, Webhook } from 'lucide-react';
import type { Agent } from '../../gen/index.ts';
import { curlOf } from '../../parts/curl.ts';
import { ButtonLink } from '../../parts/links.tsx';
import { useViewer } from '../../parts/viewer.ts';
import { Empty } from '../../ui/empty.tsx';

/** The way to the sessions of an agent. */
export function SessionsTab({ agent: { agent_id: agentId } }: { agent: Agent }) {
  const { isTeam } = useViewer();
  const action = (
    <ButtonLink to="/sessions" search={{ agent: agentId }}>
      Show its sessions
    </ButtonLink>
  );
  return (
    <Empty
      icon={<MessagesSquare />}
      action={action}
      curl={curlOf({ path: `/agents/${agentId}/sessions`, isTeam })}
    >
      Each conversation with this agent, and each call of its triggers, is a session.
    </Empty>
  );
}

/** The way to the triggers of an agent, and to a new one. */
export function TriggersTab({ agent: { agent_id: agentId } }: { agent: Agent }) {
  const { isTeam } = useViewer();
  const actions = (
    <div className="flex flex-wrap justify-center gap-2">
      <ButtonLink to="/triggers" search={{ q: agentId }}>
        Show its triggers
      </ButtonLink>
      <ButtonLink to="/triggers/new" search={{ agent: agentId }} look="primary">
        <Plus aria-hidden />
        New trigger
      </ButtonLink>
    </div>
  );
  return (
    <Empty
      icon={<Webhook />}
      action={actions}
      curl={curlOf({ path: `/admin/agents/${agentId}/deployments`, isTeam })}
    >
      A trigger lets another system begin a session with this agent.
    </Empty>
  );
}
