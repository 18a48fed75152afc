import type { Call } from '../../../lib/grpc/contract.ts';
import { type SealedForPeer, secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import type { Secret } from '../../../lib/secret.ts';
import { AgentsServiceDefinition } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { normalizeOAuth } from '../domain/mcp-oauth.ts';
import type { McpOAuth } from '../domain/mcp-server.ts';
import type { AgentsHandlerContext } from './context.ts';

type Method = 'createMcpServer' | 'updateMcpServer';

/** Passes the secrets of OAuth clients of MCP servers on to the vaults service. This service stores none. */
export function createOAuthClients({ vaults, peerSealer }: AgentsHandlerContext) {
  return {
    /** The client secret of a request. Undefined: it has none. */
    secretOf(box: SealedForPeer | undefined, method: Method, call: Call): Secret | undefined {
      const { requestId } = call;
      const sealed = { contract: AgentsServiceDefinition, method, peer: 'edge', requestId };
      return box && secretsIn(peerSealer.open(box, sealed)).client_secret;
    },

    /** Keeps a secret. It is sent to the issuer of the settings alone. */
    async put(mcpServerId: string, oauth: McpOAuth, secret: Secret, call: Call): Promise<void> {
      const { requestId } = call;
      const method = 'putOAuthClient';
      const sealed = { contract: VaultsServiceDefinition, method, peer: 'vaults', requestId } as const;
      const { issuer, clientId } = oauth;
      const box = peerSealer.seal({ client_secret: secret }, sealed);
      await vaults.putOAuthClient({ mcpServerId, issuer, clientId, secret: box }, call);
    },

    async delete(mcpServerId: string, call: Call): Promise<void> {
      await vaults.deleteOAuthClient({ mcpServerId }, call);
    },
  };
}

/**
 * Returns the settings of a server after a request. A secret is kept while client and issuer stay the same; a request can
 * give another one.
 */
export function nextOAuth(
  before: McpOAuth | undefined,
  given: McpOAuth | undefined,
  isSecretGiven: boolean,
): McpOAuth | undefined {
  const { clientId = '', scopes = [], issuer = '' } = given ?? before ?? {};
  const isKept = before?.hasClientSecret === true && before.clientId === clientId && before.issuer === issuer;
  return normalizeOAuth({ clientId, scopes, issuer, hasClientSecret: isSecretGiven || isKept });
}
