import { getRouteApi } from '@tanstack/react-router';
import { mcpServers } from '../../api/mcp-servers.ts';
import type { McpServer } from '../../gen/index.ts';
import { CopyCurl } from '../../parts/curl/copy-curl.tsx';
import { LeaveGuard } from '../../parts/editor/leave-guard.tsx';
import { useEditor } from '../../parts/editor/use-editor.ts';
import { TextLink } from '../../parts/navigation/links.tsx';
import { ResourceLead } from '../../parts/resources/resource-lead.tsx';
import { ResourcePage } from '../../parts/resources/resource-page.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { Page } from '../../ui/page.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { settingsDraftOf } from './draft.ts';
import { DeleteServer, ToggleServer } from './server-actions.tsx';
import { ServerState } from './server-state.tsx';
import { SettingsTab } from './settings.tsx';
import { ToolsTab } from './tools-tab.tsx';

const route = getRouteApi('/mcp-servers/$mcpServerId');

const TABS = [
  { value: 'tools', text: 'Tools' },
  { value: 'settings', text: 'Settings' },
] as const;

export function McpServerPage() {
  const { mcpServerId } = route.useParams();
  return (
    <AdministratorsOnly title="MCP server">
      <ResourcePage
        key={mcpServerId}
        options={mcpServers.detail(mcpServerId)}
        title="MCP server"
        path={`/admin/mcp-servers/${mcpServerId}`}
      >
        {(server) => <ServerContent server={server} />}
      </ResourcePage>
    </AdministratorsOnly>
  );
}

function ServerContent({ server }: { server: McpServer }) {
  const { mcp_server_id: id, name, description } = server;
  const { tab = 'tools' } = route.useSearch();
  const navigate = route.useNavigate();
  const editing = useEditor(server, settingsDraftOf);
  return (
    <Page
      title={name}
      above={<TextLink to="/mcp-servers">MCP servers</TextLink>}
      lead={
        <ResourceLead noun="MCP server" id={id} description={description}>
          <ServerState server={server} />
        </ResourceLead>
      }
      actions={
        <>
          <CopyCurl path={`/admin/mcp-servers/${id}`} />
          <ToggleServer server={server} />
          <DeleteServer server={server} />
        </>
      }
    >
      <Tabs
        label="MCP server sections"
        value={tab}
        tabs={TABS}
        onChange={(chosen) => void navigate({ search: chosen === 'tools' ? {} : { tab: chosen } })}
      >
        <div className="pt-4">
          {tab === 'tools' && <ToolsTab server={server} />}
          {tab === 'settings' && <SettingsTab server={server} editing={editing} />}
        </div>
      </Tabs>
      <LeaveGuard isDirty={editing.isDirty} />
    </Page>
  );
}
