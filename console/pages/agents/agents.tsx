import { getRouteApi } from '@tanstack/react-router';
import { Bot, Plus } from 'lucide-react';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { Catalogue } from '../../parts/lists/catalogue.tsx';
import { useList } from '../../parts/lists/list.tsx';
import type { Column } from '../../parts/lists/long-list.tsx';
import { useShortcut } from '../../parts/shortcuts.ts';
import { Badge } from '../../ui/badge.tsx';
import { Cut } from '../../ui/cut.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Time } from '../../ui/time.tsx';
import { VISIBILITIES } from './visibility.ts';

const route = getRouteApi('/agents');

const COLUMNS: readonly Column<Agent>[] = [
  { name: 'Name', className: 'w-[38%]', cell: (agent) => <Name agent={agent} /> },
  { name: 'Model', cell: ({ model }) => <Cut text={model} mono /> },
  { name: 'State', className: 'w-28', cell: (agent) => <State agent={agent} /> },
  { name: 'Shared with', className: 'w-28', cell: ({ visibility }) => VISIBILITIES[visibility].text },
  { name: 'Changed', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

export function AgentsPage() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(agents.list(q));
  useShortcut('n', 'New agent', () => void navigate({ to: '/agents/new' }));
  return (
    <Catalogue
      title="Agents"
      lead="A model, what it is told, and what it may do. Conversations and triggers begin with one."
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
      none={<None />}
    />
  );
}

function Name({ agent: { agent_id: agentId, name, description } }: { agent: Agent }) {
  return (
    <TextLink to="/agents/$agentId" params={{ agentId }} className="block">
      <Cut text={name} />
      {description && <Cut text={description} className="text-xs font-normal text-muted" />}
    </TextLink>
  );
}

function State({ agent: { enabled } }: { agent: Agent }) {
  return enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>;
}

function AgentCard({ agent }: { agent: Agent }) {
  return (
    <div className="flex flex-col gap-1.5">
      <Name agent={agent} />
      <Cut text={agent.model} mono className="text-muted" />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <State agent={agent} />
        {VISIBILITIES[agent.visibility].text}
        <Time at={agent.updated_at} />
      </div>
    </div>
  );
}

function None() {
  const curlOf = useCurl();
  const create = (
    <ButtonLink to="/agents/new" look="primary">
      Create your first agent
    </ButtonLink>
  );
  const body = { name: 'Echo', model: 'rehearsal/echo' };
  return (
    <Empty icon={<Bot />} action={create} curl={curlOf({ method: 'POST', path: '/agents', body })}>
      There is no agent yet. The model rehearsal/echo needs no key.
    </Empty>
  );
}
