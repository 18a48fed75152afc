import { getRouteApi } from '@tanstack/react-router';
import { agents } from '../../api/agents.ts';
import type { Agent } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { agentDraftOf } from '../../parts/editor/agent-draft.ts';
import { LeaveGuard } from '../../parts/editor/leave-guard.tsx';
import { useEditor } from '../../parts/editor/use-editor.ts';
import { ExtensionsTab } from '../../parts/extensions/extensions-tab.tsx';
import { TextLink } from '../../parts/navigation/links.tsx';
import { ResourceLead } from '../../parts/resources/resource-lead.tsx';
import { ResourcePage } from '../../parts/resources/resource-page.tsx';
import { StartConversation } from '../../parts/sessions/start-conversation.tsx';
import { VaultsTab } from '../../parts/vaults/vaults-tab.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { AccessTab } from './access-tab.tsx';
import { ConnectTab } from './connect/connect-tab.tsx';
import { DeleteAgent } from './delete.tsx';
import { AgentDeploymentsTab, AgentSessionsTab } from './related-tabs.tsx';
import type { AgentTab } from './search.ts';
import { SettingsTab } from './settings.tsx';
import { AgentVersionsTab } from './versions.tsx';

const route = getRouteApi('/agents/$agentId');

const TABS: readonly { value: AgentTab; text: string; managers?: true }[] = [
  { value: 'settings', text: 'Settings' },
  { value: 'versions', text: 'Versions' },
  { value: 'connect', text: 'Connect' },
  { value: 'access', text: 'Access', managers: true },
  { value: 'extensions', text: 'Extensions' },
  { value: 'vaults', text: 'Vaults', managers: true },
  { value: 'sessions', text: 'Sessions' },
  { value: 'deployments', text: 'Deployments', managers: true },
];

export function AgentPage() {
  const { agentId } = route.useParams();
  // The key resets the form when the agent changes.
  return (
    <ResourcePage key={agentId} options={agents.detail(agentId)} title="Agent" path={`/agents/${agentId}`}>
      {(agent) => <AgentContent agent={agent} />}
    </ResourcePage>
  );
}

function AgentContent({ agent }: { agent: Agent }) {
  const { agent_id: agentId } = agent;
  const { tab: requested } = route.useSearch();
  const navigate = route.useNavigate();
  const editing = useEditor(agent, agentDraftOf);
  const isManager = agent.access === 'manage';
  const tabs = TABS.filter(({ managers }) => isManager || !managers);
  const tab = tabs.find(({ value }) => value === requested)?.value ?? 'settings';
  return (
    <Page
      title={agent.name}
      above={<TextLink to="/agents">Agents</TextLink>}
      lead={
        <ResourceLead noun="agent" id={agentId} description={agent.description}>
          {agent.enabled ? <Badge tone="good">Enabled</Badge> : <Badge>Disabled</Badge>}
          <span>Version {agent.version}</span>
        </ResourceLead>
      }
      actions={
        <>
          <CopyCurl path={`/agents/${agentId}`} />
          {isManager && <DeleteAgent agent={agent} />}
          <StartConversation
            name={agent.name}
            path={`/agents/${agentId}/conversations`}
            run={(message, key) => agents.startConversation(agentId, message, key)}
            disabled={!agent.enabled}
          />
        </>
      }
    >
      <Tabs
        label="Agent sections"
        value={tab}
        tabs={tabs}
        onChange={(chosen) => void navigate({ search: chosen === 'settings' ? {} : { tab: chosen } })}
      >
        <div className="pt-4">
          {tab === 'settings' && <SettingsTab agent={agent} editing={editing} />}
          {tab === 'versions' && <AgentVersionsTab agent={agent} />}
          {tab === 'connect' && <ConnectTab agent={agent} />}
          {tab === 'access' && <AccessTab agent={agent} />}
          {tab === 'extensions' && <ExtensionsTab target={{ agentId }} isReadOnly={!isManager} />}
          {tab === 'vaults' && <VaultsTab target={{ agentId }} path={`/admin/agents/${agentId}/vaults`} />}
          {tab === 'sessions' && <AgentSessionsTab agent={agent} />}
          {tab === 'deployments' && <AgentDeploymentsTab agent={agent} />}
        </div>
      </Tabs>
      <LeaveGuard isDirty={editing.isDirty} />
    </Page>
  );
}
