import type { Clock } from '../clock.ts';
import type { OutboundClient } from '../outbound/outbound-client.ts';
import type { KnownProtocol, McpConnection, McpEndpoint } from './connection.ts';

export type { KnownProtocol, McpConnection, McpEndpoint } from './connection.ts';
export type { CredentialHeaders } from './limited-fetch.ts';
export { McpError } from './mcp-error.ts';
export type { ResourceList } from './resources.ts';
export type { InputRequired, ToolCallResult, ToolProgress } from './tool-call.ts';

/** Connects to a server, with fewer requests if its protocol is known. Throws McpError, or the reason of the signal. */
export type ConnectMcp = (
  endpoint: McpEndpoint,
  signal?: AbortSignal,
  known?: KnownProtocol,
) => Promise<McpConnection>;

/** Returns a function that loads the client of the protocol at its first call, because few processes need it. */
export function createMcpConnector(outbound: OutboundClient, clock: Clock): ConnectMcp {
  return async (endpoint, signal, known) => {
    const { McpConnection: Connection } = await import('./connection.ts');
    return Connection.open(endpoint, { outbound, clock, signal, known });
  };
}
