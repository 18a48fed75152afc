import { useQueryClient } from '@tanstack/react-query';
import { mcpServers } from '../../api/mcp-servers.ts';
import type { McpServer } from '../../gen/index.ts';
import { ToggleResource } from '../../parts/actions/toggle-resource.tsx';
import { DeleteResource } from '../../parts/editor/delete-resource.tsx';

interface ServerProps {
  server: McpServer;
}

const CONSEQUENCES = {
  disable: 'Its tools are no longer offered or called. Agents and assistants keep the server.',
  enable: 'Agents and assistants that have the server use its reviewed tools again.',
};

export function ToggleServer({ server }: ServerProps) {
  const { mcp_server_id: id, name, revision } = server;
  const queries = useQueryClient();
  return (
    <ToggleResource
      noun="MCP server"
      name={name}
      resource={server}
      path={`/admin/mcp-servers/${id}`}
      run={(change) => mcpServers.update(id, revision, change)}
      onDone={() => queries.invalidateQueries({ queryKey: ['mcp-servers'] })}
      consequences={CONSEQUENCES}
    />
  );
}

export function DeleteServer({ server: { mcp_server_id: id, name } }: ServerProps) {
  return (
    <DeleteResource
      noun="MCP server"
      id={id}
      name={name}
      path={`/admin/mcp-servers/${id}`}
      run={() => mcpServers.remove(id)}
    >
      <p>
        Its reviews are deleted. This cannot be undone. A server of an agent or assistant cannot be deleted:
        remove it there first.
      </p>
    </DeleteResource>
  );
}
