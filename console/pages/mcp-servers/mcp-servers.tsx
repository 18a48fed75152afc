import { getRouteApi } from '@tanstack/react-router';
import { Plug, Plus } from 'lucide-react';
import { mcpServers } from '../../api/mcp-servers.ts';
import type { McpServer } from '../../gen/index.ts';
import { ButtonLink, TextLink } from '../../parts/navigation/links.tsx';
import { useShortcut } from '../../parts/navigation/shortcuts.ts';
import { Catalogue } from '../../parts/resources/catalogue.tsx';
import { useList } from '../../parts/resources/list.tsx';
import type { Column } from '../../parts/resources/long-list.tsx';
import { AdministratorsOnly } from '../../parts/users/administrators-only.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Time } from '../../ui/time.tsx';
import { TruncatedText } from '../../ui/truncated-text.tsx';
import { ServerState } from './server-state.tsx';

const route = getRouteApi('/mcp-servers');

const COLUMNS: readonly Column<McpServer>[] = [
  { name: 'Name', className: 'w-[22%]', cell: (server) => <ServerCell server={server} /> },
  { name: 'URL', className: 'w-[34%]', cell: ({ url }) => <TruncatedText text={url} /> },
  { name: 'Offered tools', className: 'w-32', cell: (server) => offeredOf(server) },
  { name: 'State', className: 'w-44', cell: (server) => <ServerState server={server} /> },
  { name: 'Updated', className: 'w-36', cell: ({ updated_at: at }) => <Time at={at} /> },
];

export function McpServersPage() {
  return (
    <AdministratorsOnly title="MCP servers">
      <ServerCatalogue />
    </AdministratorsOnly>
  );
}

function ServerCatalogue() {
  const { q } = route.useSearch();
  const navigate = route.useNavigate();
  const list = useList(mcpServers.list(q));
  useShortcut('n', 'New MCP server', () => void navigate({ to: '/mcp-servers/new' }));
  return (
    <Catalogue
      title="MCP servers"
      lead="Remote servers with tools for agents. Their tools are reviewed before models see them."
      noun="MCP servers"
      q={q}
      onSearch={(words) => void navigate({ search: { q: words }, replace: true })}
      path="/admin/mcp-servers"
      list={list}
      keyOf={({ mcp_server_id: id }) => id}
      columns={COLUMNS}
      card={(server) => <ServerCard server={server} />}
      create={
        <ButtonLink to="/mcp-servers/new" look="primary">
          <Plus aria-hidden />
          New MCP server
        </ButtonLink>
      }
      all={
        <ButtonLink to="/mcp-servers" search={{}}>
          Show all
        </ButtonLink>
      }
      none={
        <EmptyState icon={<Plug />}>
          No MCP servers yet. Create one, review its tools, and add it to an agent.
        </EmptyState>
      }
    />
  );
}

const offeredOf = ({ catalogue: { offered_count: offered, tool_count: all } }: McpServer) =>
  all === 0 ? 'None' : `${offered} of ${all}`;

function ServerCell({ server: { mcp_server_id: mcpServerId, name } }: { server: McpServer }) {
  return (
    <TextLink to="/mcp-servers/$mcpServerId" params={{ mcpServerId }} className="block">
      <TruncatedText text={name} />
    </TextLink>
  );
}

function ServerCard({ server }: { server: McpServer }) {
  return (
    <div className="flex flex-col gap-1.5">
      <ServerCell server={server} />
      <TruncatedText text={server.url} />
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-muted">
        <ServerState server={server} />
        Offered tools: {offeredOf(server)}
        <Time at={server.updated_at} />
      </div>
    </div>
  );
}
