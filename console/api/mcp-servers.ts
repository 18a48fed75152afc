import { queryOptions } from '@tanstack/react-query';
import {
  type CreateMcpServerData,
  createMcpServer,
  deleteMcpServer,
  getMcpCatalogue,
  getMcpServer,
  listCredentials,
  listMcpServers,
  listVaults,
  type McpCatalogue,
  probeMcpServer,
  type ReviewMcpCatalogueData,
  reviewMcpCatalogue,
  type UpdateMcpServerData,
  updateMcpServer,
} from '../gen/index.ts';
import { ApiError, unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';

const pathOf = (mcpServerId: string) => ({ path: { mcp_server_id: mcpServerId } });
const ifMatch = (revision: number) => ({ 'If-Match': `"${revision}"` });

const MAX_LISTED = 100;

/** Returns the catalogue; null while the server has none that is seen or reviewed. */
async function catalogueOf(
  mcpServerId: string,
  of: 'reviewed' | 'seen',
  signal: AbortSignal,
): Promise<McpCatalogue | null> {
  try {
    return await unwrapData(getMcpCatalogue({ ...pathOf(mcpServerId), query: { of }, signal }));
  } catch (error) {
    if (error instanceof ApiError && error.code === 'CATALOGUE_UNREVIEWED') return null;
    throw error;
  }
}

/** Returns the enabled credentials of the first shared vaults for exactly this URL. */
async function credentialsFor(url: string, signal: AbortSignal) {
  const vaults = await unwrapPage(listVaults({ query: { kind: 'shared', limit: MAX_LISTED }, signal }));
  const lists = await Promise.all(
    vaults.items.map(async ({ vault_id: vaultId, name }) => {
      const path = { vault_id: vaultId };
      const { items } = await unwrapPage(listCredentials({ path, query: { limit: MAX_LISTED }, signal }));
      return items.map((credential) => ({ ...credential, vault_name: name }));
    }),
  );
  return lists.flat().filter(({ enabled, mcp_server_url: at }) => enabled && at === url);
}

/** Queries and mutations of MCP servers, for administrators. Query keys begin with `mcp-servers`. */
export const mcpServers = {
  list: (q?: string) =>
    pagedQuery(['mcp-servers', 'list', q], (cursor, signal) =>
      unwrapPage(listMcpServers({ query: { q, cursor }, signal })),
    ),
  detail: (mcpServerId: string) =>
    queryOptions({
      queryKey: ['mcp-servers', mcpServerId],
      queryFn: ({ signal }) => unwrapData(getMcpServer({ ...pathOf(mcpServerId), signal })),
    }),
  catalogue: (mcpServerId: string, of: 'reviewed' | 'seen') =>
    queryOptions({
      queryKey: ['mcp-servers', mcpServerId, 'catalogue', of],
      queryFn: ({ signal }) => catalogueOf(mcpServerId, of, signal),
    }),
  credentials: (url: string) =>
    queryOptions({
      queryKey: ['vaults', 'credentials-for', url],
      queryFn: ({ signal }) => credentialsFor(url, signal),
    }),
  /** The result of the last probe. A component shows it without probing by itself. */
  probe: (mcpServerId: string, credentialId?: string) =>
    queryOptions({
      queryKey: ['mcp-servers', mcpServerId, 'probe'],
      queryFn: () =>
        unwrapData(
          probeMcpServer({
            ...pathOf(mcpServerId),
            body: credentialId ? { credential_id: credentialId } : {},
          }),
        ),
      enabled: false,
      retry: false,
    }),
  create: (body: CreateMcpServerData['body'], key: string) =>
    unwrapData(createMcpServer({ body, headers: { 'Idempotency-Key': key } })),
  update: (mcpServerId: string, revision: number, body: UpdateMcpServerData['body']) =>
    unwrapData(updateMcpServer({ ...pathOf(mcpServerId), body, headers: ifMatch(revision) })),
  remove: (mcpServerId: string) => unwrapData(deleteMcpServer(pathOf(mcpServerId))),
  review: (mcpServerId: string, revision: number, body: ReviewMcpCatalogueData['body']) =>
    unwrapData(reviewMcpCatalogue({ ...pathOf(mcpServerId), body, headers: ifMatch(revision) })),
};
