import { Type } from 'typebox';
import type {
  ConnectableServer,
  Connection,
  ConnectionAttempt,
} from '../../proto/gen/ahs/vaults/v1/vaults.ts';
import {
  closed,
  flag,
  id,
  NULL,
  nullable,
  optional,
  revision,
  serializeTime,
  serializeTimeOrNull,
  text,
  time,
} from './common.ts';

const mcpServerId = id('mcp', 'the MCP server');
const host = text('The host of the MCP server.', { examples: ['mcp.example.com'] });
const triggered = flag('Whether sessions of your deployments can use the connection.', false);

export const ConnectionShape = Type.Object(
  {
    connection_id: id('crd', 'the connection'),
    mcp_server_id: mcpServerId,
    name: nullable(text('The name of the MCP server; null if it was deleted.', { examples: ['github'] })),
    host,
    status: Type.Enum(['active', 'needs_connection', 'refused', 'disabled'], {
      description:
        '`needs_connection`: the authorization has ended. `refused`: the server has refused it. `disabled`: an administrator ' +
        'has disabled it.',
    }),
    status_reason: nullable(text('The reason of the status.'), NULL),
    account: nullable(text('Your name at the issuer, if it gives one.', { examples: ['ada@example.com'] })),
    scopes: Type.Array(Type.String(), { description: 'The granted scopes.', examples: [['read']] }),
    use_in_triggered_sessions: triggered,
    connected_at: time('The time of the first authorization.'),
    last_used_at: nullable(time('The time of the last use.'), NULL),
    revision,
  },
  { title: 'Connection', description: 'Your authorization at an MCP server, without its tokens.' },
);

export const ConnectionsShape = Type.Object({
  connections: Type.Array(ConnectionShape, { description: 'Your connections, newest first.' }),
  available: Type.Array(
    Type.Object(
      {
        mcp_server_id: mcpServerId,
        name: text('The name of the MCP server.', { examples: ['github'] }),
        host,
        description: text('The description of the MCP server.', { examples: ['Issues.'] }),
      },
      { title: 'ConnectableServer' },
    ),
    { description: 'The MCP servers without a connection, by name. At most 1,000.' },
  ),
});

export const ConnectionCreation = closed({
  mcp_server_id: mcpServerId,
  return_to: optional(
    text('The path of this origin to which the browser returns. Other values become `/`.', {
      maxLength: 2_000,
      examples: ['/sessions'],
    }),
  ),
  token: optional(
    text('A token for a server without OAuth. No response contains it.', {
      minLength: 1,
      maxLength: 16 * 1024,
      format: 'password',
      writeOnly: true,
    }),
  ),
});

export const ConnectionPatch = closed({ use_in_triggered_sessions: optional(triggered) });

/** The first two members tell which of them is there. */
export const BegunConnectionShape = Type.Object(
  {
    attempt_id: nullable(id('att', 'the attempt'), NULL),
    authorization_url: nullable(
      text('The URL of the authorization server to which the browser goes; null with a token.', {
        examples: ['https://login.example.com/authorize?…'],
      }),
    ),
    expires_at: nullable(time('The time at which the attempt ends.'), NULL),
    connection: nullable(ConnectionShape, NULL),
  },
  { title: 'BegunConnection', description: 'An attempt to connect, or with a token the connection.' },
);

export function serializeConnection(connection: Connection | undefined) {
  return {
    connection_id: connection?.connectionId,
    mcp_server_id: connection?.mcpServerId,
    name: connection?.name || null,
    host: connection?.host,
    status: connection?.status,
    status_reason: connection?.statusReason || null,
    account: connection?.account || null,
    scopes: connection?.scopes,
    use_in_triggered_sessions: connection?.useInTriggeredSessions,
    connected_at: serializeTime(connection?.connectedAt),
    last_used_at: serializeTimeOrNull(connection?.lastUsedAt),
    revision: connection?.revision,
  };
}

export function serializeConnectable({
  mcpServerId: serverId,
  name,
  host: at,
  description,
}: ConnectableServer) {
  return { mcp_server_id: serverId, name, host: at, description };
}

export function serializeAttempt(attempt: ConnectionAttempt | undefined) {
  return {
    attempt_id: attempt?.attemptId ?? null,
    authorization_url: attempt?.authorizationUrl ?? null,
    expires_at: serializeTimeOrNull(attempt?.expiresAt),
  };
}
