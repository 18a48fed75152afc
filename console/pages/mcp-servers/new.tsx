import { useQueryClient } from '@tanstack/react-query';
import { linkOptions } from '@tanstack/react-router';
import { mcpServers } from '../../api/mcp-servers.ts';
import { CreatePage } from '../../parts/editor/create-page.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { EMPTY_SERVER_DRAFT, readServerDraft } from './draft.ts';
import { IdentityFields, SettingsFields } from './fields.tsx';
import { probe } from './probe.ts';

/** Creates a server. One that needs no credential is probed immediately, so that its tools can be reviewed. */
export function NewMcpServerPage() {
  const queries = useQueryClient();
  return (
    <AdministratorsOnly title="New MCP server">
      <CreatePage
        noun="MCP server"
        empty={EMPTY_SERVER_DRAFT}
        read={readServerDraft}
        create={async (body: ReturnType<typeof readServerDraft>['body'], key) => {
          const created = await mcpServers.create(body, key);
          if (created.authorization === 'none') void probe(queries, created.mcp_server_id).catch(() => {});
          return created;
        }}
        path="/admin/mcp-servers"
        pageOf={({ mcp_server_id: mcpServerId }) =>
          linkOptions({ to: '/mcp-servers/$mcpServerId', params: { mcpServerId } })
        }
      >
        {(form) => (
          <>
            <IdentityFields {...form} />
            <SettingsFields {...form} />
          </>
        )}
      </CreatePage>
    </AdministratorsOnly>
  );
}
