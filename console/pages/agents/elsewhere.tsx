import { MessagesSquare, Plus, Webhook } from 'lucide-react';
import type { ReactNode } from 'react';
import { sessions } from '../../api/sessions.ts';
import { triggers } from '../../api/triggers.ts';
import type { Agent, Deployment } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink, TextLink } from '../../parts/links.tsx';
import { List, useList } from '../../parts/lists/list.tsx';
import { SessionRows } from '../../parts/sessions/rows.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

/** The sessions of an agent, newest first. */
export function SessionsTab({ agent: { agent_id: agentId } }: { agent: Agent }) {
  const curlOf = useCurl();
  const list = useList(sessions.list({ agent_id: agentId }));
  const path = `/sessions?agent_id=${agentId}`;
  return (
    <>
      <Bar>
        <CopyCurl path={path} about="its sessions" />
        <ButtonLink to="/sessions" search={{ agent: agentId }}>
          Search its sessions
        </ButtonLink>
      </Bar>
      <List
        list={list}
        curl={curlOf({ path })}
        empty={
          <Empty
            icon={<MessagesSquare />}
            curl={curlOf({
              method: 'POST',
              path: `/agents/${agentId}/conversations`,
              body: { message: 'Hello' },
            })}
          >
            Each conversation with this agent, and each call of its triggers, is a session. There is none yet.
          </Empty>
        }
      >
        {(items) => <SessionRows sessions={items} />}
      </List>
    </>
  );
}

/** The triggers of an agent, and the way to a new one. */
export function TriggersTab({ agent: { agent_id: agentId, name } }: { agent: Agent }) {
  const curlOf = useCurl();
  const list = useList(triggers.ofAgent(agentId));
  const path = `/admin/agents/${agentId}/deployments`;
  return (
    <>
      <Bar>
        <CopyCurl path={path} about="its triggers" />
        <ButtonLink to="/triggers" search={{ q: name }}>
          Search its triggers
        </ButtonLink>
        <ButtonLink to="/triggers/new" search={{ agent: agentId }} look="primary">
          <Plus aria-hidden />
          New trigger
        </ButtonLink>
      </Bar>
      <List
        list={list}
        curl={curlOf({ path })}
        empty={
          <Empty icon={<Webhook />} curl={curlOf({ method: 'POST', path, body: { type: 'webhook' } })}>
            A trigger lets another system begin a session with this agent. There is none yet.
          </Empty>
        }
      >
        {(items) => <TriggerRows triggers={items} />}
      </List>
    </>
  );
}

function TriggerRows({ triggers: shown }: { triggers: readonly Deployment[] }) {
  return (
    <Card>
      <ul className="divide-y divide-line">
        {shown.map(({ agent_id: agentId, deployment_id: deploymentId, status, created_at: at }) => (
          <li
            key={deploymentId}
            className="relative flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 hover:bg-sunken"
          >
            <TextLink
              to="/triggers/$agentId/$deploymentId"
              params={{ agentId, deploymentId }}
              className="min-w-0 flex-1 basis-48 truncate font-mono text-[13px] after:absolute after:inset-0"
            >
              {deploymentId}
            </TextLink>
            {status === 'enabled' ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>}
            <span className="relative text-[13px] text-muted">
              <Time at={at} />
            </span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Bar({ children }: { children: ReactNode }) {
  return <div className="mb-3 flex flex-wrap justify-end gap-2">{children}</div>;
}
