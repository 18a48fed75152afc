import { refuse } from '../../../lib/errors.ts';
import { FieldProblems } from '../../../lib/field-problems.ts';
import { callerOf, hasLogin } from '../../../lib/grpc/caller.ts';
import type { Call, Handlers } from '../../../lib/grpc/contract.ts';
import { secretsIn } from '../../../lib/grpc/sealed-for-peer.ts';
import { isId } from '../../../lib/ids.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import type { Secret } from '../../../lib/secret.ts';
import type { McpServerRuntime } from '../../../proto/gen/ahs/agents/v1/agents.ts';
import {
  type BeginConnectionResponse,
  type Connection as ConnectionMessage,
  VaultsServiceDefinition,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import {
  type Connection,
  connectionNotFound,
  connectionRefused,
  loginRequired,
  serverNotFound,
} from '../domain/connection.ts';
import { shownStatus } from '../domain/credential.ts';
import { readSecrets } from '../domain/secret-form.ts';
import { RefusedAnswer } from '../oauth/connecting.ts';
import type { VaultsHandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<VaultsServiceDefinition>,
  'listConnections' | 'beginConnection' | 'finishConnection' | 'updateConnection' | 'deleteConnection'
>;

const NOUN = 'connection';
const DIGEST_BYTES = 32;

/** The RPCs for connections. Every user has connections of their own, and administrators cannot use them. */
export function connectionHandlers(context: VaultsHandlerContext): Methods {
  const { connections, connecting, disconnect, savedConnections, tokenCheck } = context;
  const { agents, peerSealer, record, publishHint, clock } = context;

  /** The names of servers by id. Deleted servers have none. */
  async function namesOf(ids: readonly string[], call: Call): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const { mcpServers } = await agents.lookUpMcpServers({ mcpServerIds: [...ids] }, call);
    return new Map(mcpServers.map(({ mcpServerId, name }) => [mcpServerId, name]));
  }

  async function messageOf(connection: Connection, call: Call): Promise<ConnectionMessage> {
    const names = await namesOf([connection.mcpServerId], call);
    return connectionMessage(connection, names);
  }

  /** Refused with MCP_SERVER_NOT_FOUND for a server to which users do not connect. */
  async function findServer(mcpServerId: string, call: Call): Promise<McpServerRuntime> {
    const { mcpServers } = isId('mcp', mcpServerId)
      ? await agents.lookUpMcpServers({ mcpServerIds: [mcpServerId] }, call)
      : { mcpServers: [] };
    const [server] = mcpServers;
    if (!server?.enabled || !PERSONAL.has(server.authorization)) throw serverNotFound();
    return server;
  }

  /** Stores a token after the server has accepted it. */
  async function connectWithToken(
    server: McpServerRuntime,
    members: Record<string, Secret>,
    call: Call,
  ): Promise<BeginConnectionResponse> {
    const problems = new FieldProblems();
    const secrets = readSecrets('bearer', members, problems);
    problems.throwIfAny();
    if (!secrets) throw refuse('INVALID_REQUEST', 'The connection has no token.');
    await tokenCheck(server, secrets, call);
    const { mcpServerId, url } = server;
    const grant = { mcpServerId, mcpServerUrl: url, type: 'bearer', publicMembers: undefined } as const;
    const tokens = { account: '', scopes: [], expiresAt: undefined };
    const connection = await savedConnections.save({ ...grant, ...tokens }, secrets, call);
    return { result: { $case: 'connection', value: await messageOf(connection, call) } };
  }

  return {
    async listConnections(_, call) {
      const { userId } = callerOf(call);
      const [own, { mcpServers }] = await Promise.all([
        connections.list(userId, call),
        agents.listConnectableServers({}, call),
      ]);
      const connected = new Set(own.map(({ mcpServerId }) => mcpServerId));
      const names = await namesOf([...connected], call);
      return {
        connections: own.map((connection) => connectionMessage(connection, names)),
        available: mcpServers
          .filter(({ mcpServerId }) => !connected.has(mcpServerId))
          .map(({ url, ...server }) => ({ ...server, host: new URL(url).host })),
      };
    },

    async beginConnection({ mcpServerId, returnTo, browserSha256, token }, call) {
      const caller = callerOf(call);
      if (!hasLogin(caller)) throw loginRequired();
      const { userId } = caller;
      const server = await findServer(mcpServerId, call);
      const data = { mcp_server_id: mcpServerId };
      await record({ action: 'connection.begin', targetId: mcpServerId, data }, call);
      if (token) {
        const sealed = {
          contract: VaultsServiceDefinition,
          method: 'beginConnection',
          peer: 'edge',
        } as const;
        const { requestId } = call;
        const members = secretsIn(peerSealer.open(token, { ...sealed, requestId }));
        return connectWithToken(server, members, call);
      }
      const browser = Buffer.from(browserSha256);
      if (browser.length !== DIGEST_BYTES) throw refuse('INVALID_REQUEST', 'The browser has no cookie.');
      const known = await connections.ofServer(userId, mcpServerId, call);
      const beginning = {
        userId,
        server,
        known,
        browserSha256: browser,
        returnTo,
      };
      const attempt = await connecting.begin(beginning, call);
      if (attempt) return { result: { $case: 'attempt', value: attempt } };
      await tokenCheck(server, undefined, call);
      throw refuse('INVALID_REQUEST', 'The server describes no authorization. Connect with a token.', {
        details: [{ pointer: '/token', message: 'must be present for a server without OAuth' }],
      });
    },

    async finishConnection({ answer, browserSha256 }, call) {
      const caller = callerOf(call);
      if (!hasLogin(caller)) throw connectionRefused();
      const { userId } = caller;
      const sealed = { contract: VaultsServiceDefinition, method: 'finishConnection', peer: 'edge' } as const;
      const { requestId } = call;
      const { query } = secretsIn(peerSealer.open(answer, { ...sealed, requestId }));
      if (!query) throw connectionRefused();
      try {
        const finishing = { userId, query, browserSha256: Buffer.from(browserSha256) };
        const { attempt, ...authorization } = await connecting.finish(finishing, call);
        const connection = await savedConnections.saveAuthorization(attempt, authorization, call);
        return { returnTo: attempt.returnTo, connection: await messageOf(connection, call) };
      } catch (error) {
        if (!(error instanceof RefusedAnswer)) throw error;
        const { reason, mcpServerId } = error;
        await record(
          { action: 'connection.refuse', targetId: mcpServerId, outcome: 'refused', data: { reason } },
          call,
        );
        throw connectionRefused();
      }
    },

    async updateConnection({ connectionId, useInTriggeredSessions, ifRevisions }, call) {
      const { userId } = callerOf(call);
      const known = await connections.find(userId, connectionId, call);
      if (!known) throw connectionNotFound();
      const check = ({ revision }: Connection) => checkRevision(NOUN, revision, ifRevisions);
      check(known);
      if (useInTriggeredSessions === undefined) return { connection: await messageOf(known, call) };
      const data = { use_in_triggered_sessions: useInTriggeredSessions };
      await record({ action: 'connection.update', targetId: connectionId, data }, call);
      const now = clock.now();
      const after = await connections.setUseInTriggeredSessions(
        userId,
        connectionId,
        useInTriggeredSessions,
        check,
        now,
        call,
      );
      if (!after) throw connectionNotFound();
      publishHint(connectionId);
      return { connection: await messageOf(after, call) };
    },

    async deleteConnection({ connectionId, ifRevisions }, call) {
      const { userId } = callerOf(call);
      const known = await connections.find(userId, connectionId, call);
      if (!known) throw connectionNotFound();
      const check = ({ revision }: Connection) => checkRevision(NOUN, revision, ifRevisions);
      check(known);
      const data = { mcp_server_id: known.mcpServerId };
      await record({ action: 'connection.delete', targetId: connectionId, data }, call);
      await disconnect(known, call);
      if (!(await connections.delete(userId, connectionId, check, call))) throw connectionNotFound();
      publishHint(connectionId);
      return {};
    },
  };
}

/** The values of `authorization` of servers to which users connect. */
const PERSONAL: ReadonlySet<string> = new Set(['personal', 'any']);

function connectionMessage(connection: Connection, names: ReadonlyMap<string, string>): ConnectionMessage {
  const { credentialId, mcpServerId, mcpServerUrl, statusReason, account, scopes, revision } = connection;
  const { useInTriggeredSessions, createdAt, lastUsedAt } = connection;
  return {
    connectionId: credentialId,
    mcpServerId,
    name: names.get(mcpServerId) ?? '',
    host: new URL(mcpServerUrl).host,
    status: shownStatus(connection),
    ...{
      statusReason,
      account,
      scopes,
      useInTriggeredSessions,
      connectedAt: createdAt,
      lastUsedAt,
      revision,
    },
  };
}
