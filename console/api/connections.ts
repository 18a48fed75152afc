import { queryOptions } from '@tanstack/react-query';
import { beginConnection, deleteConnection, listConnections, updateConnection } from '../gen/index.ts';
import { ApiError, unwrapData } from './client.ts';

const pathOf = (connectionId: string) => ({ path: { connection_id: connectionId } });
const STALE_AFTER_MS = 60_000;

/** The user's own connections to MCP servers. Query keys begin with `connections`. */
export const connections = {
  /** The connections, and the servers without one. A connection changes when another page or a turn uses it. */
  all: queryOptions({
    queryKey: ['connections'],
    queryFn: ({ signal }) => unwrapData(listConnections({ signal })),
    staleTime: STALE_AFTER_MS,
    refetchOnWindowFocus: true,
  }),
  /** Returns the URL at which the user authorizes this service. Fails when the server needs a token: see `needsToken`. */
  async begin(mcpServerId: string, returnTo: string): Promise<string> {
    const body = { mcp_server_id: mcpServerId, return_to: returnTo };
    const { authorization_url: url } = await unwrapData(beginConnection({ body }));
    // The URL comes from the metadata of another server.
    if (url === null || !/^https?:\/\//i.test(url)) throw new Error('The service returned no web address.');
    return url;
  },
  connect: (mcpServerId: string, token: string) =>
    unwrapData(beginConnection({ body: { mcp_server_id: mcpServerId, token } })),
  update: (connectionId: string, revision: number, useInTriggeredSessions: boolean) =>
    unwrapData(
      updateConnection({
        ...pathOf(connectionId),
        body: { use_in_triggered_sessions: useInTriggeredSessions },
        headers: { 'If-Match': `"${revision}"` },
      }),
    ),
  remove: (connectionId: string) => unwrapData(deleteConnection(pathOf(connectionId))),
};

/** Whether the server has no OAuth, so that the user connects with a token. */
export const needsToken = (error: unknown) =>
  error instanceof ApiError && error.details.some(({ pointer }) => pointer === '/token');
