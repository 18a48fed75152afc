import type { QueryClient } from '@tanstack/react-query';
import { mcpServers } from '../../api/mcp-servers.ts';

/** Probes a server and then reloads it with its seen catalogue. The error of a failed request stays in the query. */
export async function probe(queries: QueryClient, mcpServerId: string, credentialId?: string): Promise<void> {
  await queries.fetchQuery({ ...mcpServers.probe(mcpServerId, credentialId), staleTime: 0 });
  await Promise.all([
    queries.invalidateQueries({ queryKey: mcpServers.detail(mcpServerId).queryKey }),
    queries.invalidateQueries({ queryKey: ['mcp-servers', 'list'] }),
  ]);
}
