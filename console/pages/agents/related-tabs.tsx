import { MessagesSquare, Plus, Webhook } from 'lucide-react';
import type { ReactNode } from 'react';
import { deployments } from '../../api/deployments.ts';
import { sessions } from '../../api/sessions.ts';
import type { Agent, Deployment } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { useCurl } from '../../parts/curl/use-curl.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { List, useList } from '../../parts/resources/list.tsx';
import { SessionRows } from '../../parts/sessions/rows.tsx';
import { useViewer } from '../../parts/users/viewer.ts';
import { Badge } from '../../ui/badge.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Card } from '../../ui/page.tsx';
import { Time } from '../../ui/time.tsx';

/** The sessions of an agent, newest first. Managers of the agent see the sessions of all users. */
export function AgentSessionsTab({ agent: { agent_id: agentId } }: { agent: Agent }) {
  const curlOf = useCurl();
  const { isTeam } = useViewer();
  // Without logins there is one user, whose own list writes no audit entries.
  const list = useList(isTeam ? sessions.ofAgent(agentId) : sessions.list({ agent_id: agentId }));
  const path = isTeam ? `/agents/${agentId}/sessions` : `/sessions?agent_id=${agentId}`;
  return (
    <>
      <TabActions>
        <CopyCurl path={path} about="sessions" />
        <ButtonLink to="/sessions" search={{ agent: agentId }}>
          Search sessions
        </ButtonLink>
      </TabActions>
      <List
        list={list}
        curl={curlOf({ path })}
        empty={
          <EmptyState
            icon={<MessagesSquare />}
            curl={curlOf({
              method: 'POST',
              path: `/agents/${agentId}/conversations`,
              body: { message: 'Hello' },
            })}
          >
            No sessions yet. Each conversation and each run of a deployment creates a session.
          </EmptyState>
        }
      >
        {(items) => <SessionRows sessions={items} />}
      </List>
    </>
  );
}

/** The deployments of an agent and a link to create one. */
export function AgentDeploymentsTab({ agent: { agent_id: agentId, name } }: { agent: Agent }) {
  const curlOf = useCurl();
  const list = useList(deployments.ofAgent(agentId));
  const path = `/admin/agents/${agentId}/deployments`;
  return (
    <>
      <TabActions>
        <CopyCurl path={path} about="deployments" />
        <ButtonLink to="/deployments" search={{ q: name }}>
          Search deployments
        </ButtonLink>
        <ButtonLink to="/deployments/new" search={{ agent: agentId }} look="primary">
          <Plus aria-hidden />
          New deployment
        </ButtonLink>
      </TabActions>
      <List
        list={list}
        curl={curlOf({ path })}
        empty={
          <EmptyState icon={<Webhook />} curl={curlOf({ method: 'POST', path, body: { type: 'webhook' } })}>
            No deployments yet. A webhook lets another system start sessions with this agent, and a schedule
            starts them at fixed times.
          </EmptyState>
        }
      >
        {(items) => <DeploymentRows deployments={items} />}
      </List>
    </>
  );
}

function DeploymentRows({ deployments: shown }: { deployments: readonly Deployment[] }) {
  return (
    <Card>
      <ul className="divide-y divide-line">
        {shown.map(({ agent_id: agentId, deployment_id: deploymentId, status, created_at: at, ...rest }) => (
          <li
            key={deploymentId}
            className="relative flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 hover:bg-sunken"
          >
            <TextLink
              to="/deployments/$agentId/$deploymentId"
              params={{ agentId, deploymentId }}
              className="min-w-0 flex-1 basis-48 truncate font-mono text-[13px] after:absolute after:inset-0"
            >
              {rest.type === 'schedule' ? rest.name : deploymentId}
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

function TabActions({ children }: { children: ReactNode }) {
  return <div className="mb-3 flex flex-wrap justify-end gap-2">{children}</div>;
}
