import { getRouteApi } from '@tanstack/react-router';
import type { Channel } from '../../../gen/index.ts';
import { CopyCurl } from '../../../parts/curl/copy-curl.tsx';
import { TextLink } from '../../../parts/navigation/links.tsx';
import { ResourceLead } from '../../../parts/resources/resource-lead.tsx';
import { providerName } from '../../../parts/text/provider-names.ts';
import { Button } from '../../../ui/button.tsx';
import { Page } from '../../../ui/page.tsx';
import { Tabs } from '../../../ui/tabs.tsx';
import { useDeploymentActions } from '../actions.tsx';
import { AgentLink } from '../agent-link.tsx';
import { requests } from '../requests.ts';
import { DeploymentStatus } from '../status.tsx';
import { Connection, ConnectionBadge } from './connection.tsx';
import { ConversationsTab } from './conversations-tab.tsx';
import { DeliveriesTab } from './deliveries-tab.tsx';
import { PeopleTab } from './people-tab.tsx';
import { PostsTab } from './posts-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { SetupTab } from './setup-tab.tsx';

const route = getRouteApi('/deployments/$agentId/$deploymentId');

const TABS = [
  { value: 'conversations', text: 'Conversations' },
  { value: 'deliveries', text: 'Deliveries' },
  { value: 'posts', text: 'Posts' },
  { value: 'people', text: 'People' },
  { value: 'setup', text: 'Setup' },
  { value: 'settings', text: 'Settings' },
] as const;

type Tab = (typeof TABS)[number]['value'];

const tabOf = (chosen: string | undefined): Tab =>
  TABS.find(({ value }) => value === chosen)?.value ?? 'conversations';

/** The page of a channel. */
export function ChannelContent({ channel }: { channel: Channel }) {
  const { tab: chosen } = route.useSearch();
  const tab = tabOf(chosen);
  const navigate = route.useNavigate();
  const actions = useDeploymentActions(() => void navigate({ to: '/deployments' }));
  return (
    <Page
      title={channel.name}
      above={<TextLink to="/deployments">Deployments</TextLink>}
      lead={
        <ResourceLead noun="channel" id={channel.deployment_id}>
          <DeploymentStatus status={channel.status} />
          <span>{providerName(channel.provider)}</span>
          <ConnectionBadge channel={channel} />
          <AgentLink deployment={channel} />
        </ResourceLead>
      }
      actions={
        <>
          <CopyCurl {...requests.read(channel)} />
          {channel.status === 'enabled' ? (
            <Button onClick={() => actions.confirm({ kind: 'disable', deployment: channel })}>Disable</Button>
          ) : (
            <Button look="primary" busy={actions.isEnabling} onClick={() => actions.enable(channel)}>
              Enable
            </Button>
          )}
          <Button onClick={() => actions.confirm({ kind: 'delete', deployment: channel })}>Delete</Button>
        </>
      }
    >
      <Connection channel={channel} />
      <Tabs
        label="Channel sections"
        value={tab}
        tabs={TABS}
        onChange={(next) => void navigate({ search: next === 'conversations' ? {} : { tab: next } })}
      >
        <div className="pt-4">
          {tab === 'conversations' && <ConversationsTab channel={channel} />}
          {tab === 'deliveries' && <DeliveriesTab channel={channel} />}
          {tab === 'posts' && <PostsTab channel={channel} />}
          {tab === 'people' && <PeopleTab channel={channel} />}
          {tab === 'setup' && <SetupTab channel={channel} />}
          {tab === 'settings' && <SettingsTab channel={channel} />}
        </div>
      </Tabs>
      {actions.dialog}
    </Page>
  );
}
