import { getRouteApi } from '@tanstack/react-router';
import { Bot, Plus } from 'lucide-react';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { useShortcut } from '../../parts/navigation/shortcuts.ts';
import { Catalogue } from '../../parts/resources/catalogue.tsx';
import { useList } from '../../parts/resources/list.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { Badge } from '../../ui/badge.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { VISIBILITY_LABELS } from './visibility.ts';

const route = getRouteApi('/agents');

const COLUMNS: readonly Column<Agent>[] = [
  { name: 'Name', className: 'w-[38%]', cell: (agent) => <AgentCell agent={agent} /> },
  { name: 'Model', cell: ({ model }) => <TruncatedText text={model} mono /> },
  { name: 'State', className: 'w-28', cell: (agent) => <AgentState agent={agent} /> },
  { name: 'Shared with', className: 'w-28', cell: ({ visibility }) => VISIBILITY_LABELS[visibility].text },
  { name: 'Updated', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

export function AgentsPage() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(agents.list(q));
  useShortcut('n', 'New agent', () => void navigate({ to: '/agents/new' }));
  return (
    <Catalogue
      title="Agents"
      lead="A model with instructions and permissions. Conversations and deployments use an agent."
      noun="agents"
      q={q}
      onSearch={(words) => void navigate({ search: { q: words }, replace: true })}
      path="/agents"
      list={list}
      keyOf={({ agent_id: id }) => id}
      columns={COLUMNS}
      card={(agent) => <AgentCard agent={agent} />}
      create={
        <ButtonLink to="/agents/new" look="primary">
          <Plus aria-hidden />
          New agent
        </ButtonLink>
      }
      all={
        <ButtonLink to="/agents" search={{}}>
          Show all
        </ButtonLink>
      }
      none={<NoAgents />}
    />
  );
}

function AgentCell({ agent: { agent_id: agentId, name, description } }: { agent: Agent }) {
  return (
    <TextLink to="/agents/$agentId" params={{ agentId }} className="block">
      <TruncatedText text={name} />
      {description && <TruncatedText text={description} className="text-xs font-normal text-muted" />}
    </TextLink>
  );
}

function AgentState({ agent: { enabled } }: { agent: Agent }) {
  return enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>;
}

function AgentCard({ agent }: { agent: Agent }) {
  return (
    <div className="flex flex-col gap-1.5">
      <AgentCell agent={agent} />
      <TruncatedText text={agent.model} mono className="text-muted" />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <AgentState agent={agent} />
        {VISIBILITY_LABELS[agent.visibility].text}
        <Time at={agent.updated_at} />
      </div>
    </div>
  );
}

function NoAgents() {
  const curlOf = useCurl();
  const create = (
    <ButtonLink to="/agents/new" look="primary">
      Create your first agent
    </ButtonLink>
  );
  const body = { name: 'Echo', model: 'rehearsal/echo' };
  return (
    <EmptyState icon={<Bot />} action={create} curl={curlOf({ method: 'POST', path: '/agents', body })}>
      No agents yet. The model rehearsal/echo needs no API key.
    </EmptyState>
  );
}
