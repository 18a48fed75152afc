import { refuse } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { type ConnectMcp, type McpConnection, McpError } from '../../../lib/mcp/open.ts';
import type { McpServerRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import type { CredentialSecrets } from '../domain/credential.ts';
import { credentialHeaders } from '../domain/credential-headers.ts';

/** A user waits for the answer. */
const TIMEOUT_SECONDS = 20;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Checks a token with its MCP server. Refused with INVALID_REQUEST for a token that the server refuses, and
 * MCP_SERVER_UNREACHABLE. Without a token, a server that demands one is reachable.
 */
export type TokenCheck = (
  server: McpServerRuntime,
  secrets: CredentialSecrets | undefined,
  call: Call,
) => Promise<void>;

export function createTokenCheck(connectMcp: ConnectMcp): TokenCheck {
  return async ({ url, transport }, secrets, call) => {
    const headers = secrets
      ? credentialHeaders({ type: 'bearer', publicMembers: undefined }, secrets.members)
      : {};
    let connection: McpConnection | undefined;
    try {
      const endpoint = { url, transport, headers, timeoutSeconds: TIMEOUT_SECONDS, maxBytes: MAX_BYTES };
      connection = await connectMcp(endpoint, call.signal);
      // Some servers demand no credential for the connection.
      await connection.readCatalogue(call.signal);
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      if (error.problem !== 'unauthorized') throw refuse('MCP_SERVER_UNREACHABLE', error.message);
      if (secrets)
        throw refuse('INVALID_REQUEST', 'The server refuses the token.', {
          details: [{ pointer: '/token', message: 'must be a token that the server accepts' }],
        });
    } finally {
      await connection?.close();
    }
  };
}
