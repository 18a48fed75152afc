import { callerOf } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { type McpConnection, McpError } from '../../../lib/mcp/open.ts';
import type { ProbeRequest, VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { type Credential, credentialNotFound } from '../domain/credential.ts';
import { credentialHeaders } from '../domain/credential-headers.ts';
import { describeAuthorization } from '../oauth/discovery.ts';
import type { VaultsHandlerContext } from './context.ts';
import { createFinders } from './find-credential.ts';

type Methods = Pick<Handlers<VaultsServiceDefinition>, 'probe'>;

/** A probe reads one catalogue, with the lists of prompts and resources. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The RPC that reads the catalogue of an MCP server. */
export function probeHandlers(context: VaultsHandlerContext): Methods {
  const { credentials, connections, lendables, connectMcp, discoverAuthorization, clock } = context;
  const { openSecret } = createFinders(context);

  /** A connection of the caller to exactly this URL. No other user can use it. */
  async function ownConnection(
    credentialId: string,
    url: string,
    call: Call,
  ): Promise<Credential | undefined> {
    const connection = await connections.find(callerOf(call).userId, credentialId, call);
    return connection?.enabled && connection.mcpServerUrl === url ? connection : undefined;
  }

  /**
   * Refused with CREDENTIAL_NOT_FOUND unless an enabled credential of a shared vault, or of the caller's own, is bound to exactly
   * this URL.
   */
  async function headersFor(
    { credentialId: given, url, anyShared }: ProbeRequest,
    call: Call,
  ): Promise<Record<string, string>> {
    if (given === '' && !anyShared) return {};
    const credential = anyShared
      ? await lendables.anyShared(url)
      : ((await credentials.sharedForServer(given, url)) ?? (await ownConnection(given, url, call)));
    const secrets = credential && (await openSecret(credential, call));
    if (!secrets) throw credentialNotFound();
    return credentialHeaders(credential, secrets);
  }

  return {
    async probe(request, call) {
      const { url, transport, timeoutSeconds } = request;
      const headers = await headersFor(request, call);
      const started = clock.now().getTime();
      const elapsed = () => Math.max(0, clock.now().getTime() - started);
      let connection: McpConnection | undefined;
      try {
        const endpoint = { url, transport, headers, timeoutSeconds, maxBytes: MAX_BYTES };
        connection = await connectMcp(endpoint, call.signal);
        const { json, prompts, resourceCount } = await connection.readCatalogue(call.signal);
        const { protocolVersion, server } = connection;
        return {
          ...{ reachable: true, latencyMs: elapsed(), protocolVersion, serverJson: JSON.stringify(server) },
          ...{ catalogueJson: json, promptsJson: JSON.stringify(prompts), resourceCount },
          ...{ authorization: undefined, problem: undefined },
        };
      } catch (error) {
        if (!(error instanceof McpError)) throw error;
        const problem = { code: error.problem, message: error.message };
        const latencyMs = elapsed();
        const { signal } = call;
        const found =
          error.problem === 'unauthorized' ? await discoverAuthorization(url, { signal }) : undefined;
        const authorization = found && describeAuthorization(found);
        return { ...UNREACHED, latencyMs, problem, authorization };
      } finally {
        await connection?.close();
      }
    },
  };
}

const UNREACHED = {
  ...{ reachable: false, protocolVersion: '', serverJson: '', catalogueJson: '' },
  ...{ promptsJson: '', resourceCount: 0 },
};
