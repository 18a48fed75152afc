import { createHash } from 'node:crypto';
import type { Caller, CallOptions } from '../../../../lib/grpc/contract.ts';
import { createPeerSealer } from '../../../../lib/grpc/sealed-for-peer.ts';
import type { McpServerRuntime } from '../../../../proto/gen/ahs/agents/v1/agents.ts';
import { VaultsServiceDefinition } from '../../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { AuthorizationServer, protectServer } from '../../../support/authorization-server.ts';
import { createFakeClock } from '../../../support/clock.ts';
import type { TransportName } from '../../../support/context.ts';
import { startMcpServer } from '../../../support/mcp-server.ts';
import { openVaultsSystem, PUBLIC_URL } from '../system.ts';

/** How the turn began that a connection is lent to. */
interface StartedTurn {
  deploymentId?: string;
  triggered?: boolean;
}

export const userOf = (letter: string, credential = 'local'): { caller: Caller } => ({
  caller: { userId: `usr_${letter.repeat(26)}`, roles: ['member'], credential },
});
export const alice = userOf('A');
export const bob = userOf('B');

export const digestOf = (text: string) => createHash('sha256').update(text).digest();
export const BROWSER = digestOf('the browser of Alice');

interface FixtureOptions {
  tokenSeconds?: number;
  clients?: readonly { client_id: string; client_secret: string }[];
  registersClients?: boolean;
  /** Default: a new one. */
  issuer?: AuthorizationServer;
}

/** An MCP server that demands tokens of an authorization server, and the vaults service. */
export async function openConnectionFixture(transport: TransportName, options: FixtureOptions = {}) {
  await using opening = new AsyncDisposableStack();
  const clock = createFakeClock();
  const { issuer: given, ...settings } = options;
  const issuer = given ?? opening.use(await AuthorizationServer.open({ origin: PUBLIC_URL, ...settings }));
  const remote = opening.use(await startMcpServer({ find: { description: 'Finds.' } }));
  protectServer(remote, issuer);
  const privateHosts = [remote.port, issuer.port].map((port) => ({ host: '127.0.0.1', port }));
  const system = opening.use(await openVaultsSystem(transport, { clock, privateHosts }));
  const { edge, context } = system;
  const sealer = createPeerSealer('edge', context.serviceSecret);

  /** An MCP server of the agent under test, at the same URL. */
  const addServer = (members: Partial<McpServerRuntime> = {}) =>
    system.targets.addServer({ url: remote.url, authorization: 'personal', ...members });

  function begin(mcpServerId: string, by: CallOptions = alice, browserSha256 = BROWSER, token?: string) {
    const requestId = context.ids('req');
    const call = { contract: VaultsServiceDefinition, peer: 'vaults', requestId };
    const sealed =
      token === undefined ? undefined : sealer.seal({ token }, { ...call, method: 'beginConnection' });
    const request = { mcpServerId, returnTo: '/sessions', browserSha256, token: sealed };
    return edge.beginConnection(request, { requestId, ...by });
  }

  /** Begins an authorization, and lets the user consent. Returns the query of the redirect. */
  async function authorize(mcpServerId: string, by: CallOptions = alice): Promise<string> {
    const { result } = await begin(mcpServerId, by);
    if (result?.$case !== 'attempt') throw new Error('the response has no attempt');
    return issuer.authorize(result.value.authorizationUrl, by.caller?.userId ?? '');
  }

  function finish(query: string, by: CallOptions = alice, browserSha256: Uint8Array = BROWSER) {
    const requestId = context.ids('req');
    const call = { contract: VaultsServiceDefinition, peer: 'vaults', requestId };
    const answer = sealer.seal({ query }, { ...call, method: 'finishConnection' });
    const request = { answer, browserSha256: Buffer.from(browserSha256) };
    return edge.finishConnection(request, { requestId, ...by });
  }

  /** Connects a user to a server. */
  async function connect(mcpServerId: string, by: CallOptions = alice) {
    const { connection } = await finish(await authorize(mcpServerId, by), by);
    if (!connection) throw new Error('the response has no connection');
    return connection;
  }

  /** Lends the connection of a user to a turn of a new session. */
  const lend = async (mcpServerId: string, by: CallOptions = alice, started: StartedTurn = {}) => {
    const lease = system.leases.lease({ ownerId: by.caller?.userId ?? '', ...started });
    const [lent] = await system.lend(lease, mcpServerId);
    return { ...lent, lease };
  };

  const stack = opening.move();
  return {
    ...{ clock, issuer, remote, system, edge, addServer, begin, authorize, finish, connect, lend },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

export type ConnectionFixture = Awaited<ReturnType<typeof openConnectionFixture>>;
