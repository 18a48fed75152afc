import { getRouteApi } from '@tanstack/react-router';
import { Bot, Plus } from 'lucide-react';
import { useCallback } from 'react';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/copy-curl.tsx';
import { curlOf } from '../../parts/curl.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { List, useList } from '../../parts/list.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { useViewer } from '../../parts/viewer.ts';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Page } from '../../ui/page.tsx';
import { Cell, Row, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';
import { VISIBILITIES } from './visibility.ts';

const route = getRouteApi('/agents');
const MODEL = 'hidden sm:table-cell';
const SHARED = 'hidden w-28 lg:table-cell';
const CHANGED = 'hidden w-36 md:table-cell';
const STATE = 'w-28';

export function AgentsPage() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const { isTeam } = useViewer();
  const list = useList(agents.list(q));
  const search = useCallback(
    (words: string | undefined) => void navigate({ search: { q: words }, replace: true }),
    [navigate],
  );
  const path = q ? `/agents?q=${encodeURIComponent(q)}` : '/agents';
  const create = (
    <ButtonLink to="/agents/new" look="primary">
      <Plus aria-hidden />
      New agent
    </ButtonLink>
  );
  return (
    <Page
      title="Agents"
      lead="A model, what it is told, and what it may do. Conversations and triggers begin with one."
      actions={create}
    >
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField label="Search agents" value={q} onChange={search} />
        <CopyCurl path={path} />
      </div>
      <List list={list} curl={curlOf({ path, isTeam })} empty={<Nothing q={q} />}>
        {(found) => (
          <Table
            label="Agents"
            columns={[
              { text: 'Name' },
              { text: 'Model', className: MODEL },
              { text: 'State', className: STATE },
              { text: 'Shared with', className: SHARED },
              { text: 'Changed', className: CHANGED },
            ]}
          >
            {found.map((agent) => (
              <AgentRow key={agent.agent_id} agent={agent} />
            ))}
          </Table>
        )}
      </List>
    </Page>
  );
}

function AgentRow({ agent }: { agent: Agent }) {
  return (
    <Row>
      <Cell title={agent.name}>
        <TextLink to="/agents/$agentId" params={{ agentId: agent.agent_id }}>
          {agent.name}
        </TextLink>
      </Cell>
      <Cell className={MODEL} title={agent.model}>
        <code className="font-mono text-[13px]">{agent.model}</code>
      </Cell>
      <Cell className={STATE}>
        {agent.enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>}
      </Cell>
      <Cell className={SHARED}>{VISIBILITIES[agent.visibility].text}</Cell>
      <Cell className={CHANGED}>
        <Time at={agent.updated_at} />
      </Cell>
    </Row>
  );
}

function Nothing({ q }: { q: string | undefined }) {
  const { isTeam } = useViewer();
  if (q) {
    const all = <ButtonLink to="/agents">Show all agents</ButtonLink>;
    return (
      <Empty icon={<Bot />} action={all}>
        No agent has “{q}” in its name.
      </Empty>
    );
  }
  const create = (
    <ButtonLink to="/agents/new" look="primary">
      Create your first agent
    </ButtonLink>
  );
  const body = { name: 'Echo', model: 'rehearsal/echo' };
  return (
    <Empty icon={<Bot />} action={create} curl={curlOf({ method: 'POST', path: '/agents', body, isTeam })}>
      There are no agents yet. The model rehearsal/echo needs no key.
    </Empty>
  );
}
