import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { checkRevision } from '../../../lib/revisions.ts';
import {
  type AgentsServiceDefinition,
  CreateMcpServerRequest,
  CreateMcpServerResponse,
} from '../../../proto/gen/ahs/agents/v1/agents.ts';
import { checkPage, checkSearch } from '../domain/agent-form.ts';
import { applyMcpServerPatch, type McpOAuth, type McpServer, newMcpServer } from '../domain/mcp-server.ts';
import { checkMcpServer, normalizeMcpServer } from '../domain/mcp-server-form.ts';
import type { AgentsHandlerContext } from './context.ts';
import { mcpServerMessage } from './mcp-server-message.ts';
import { createOAuthClients, nextOAuth } from './oauth-clients.ts';
import { MCP_SERVER_NOUN, mcpServerPatchOf } from './requests.ts';

type Methods = Pick<
  Handlers<AgentsServiceDefinition>,
  'createMcpServer' | 'listMcpServers' | 'getMcpServer' | 'updateMcpServer' | 'deleteMcpServer'
>;

/** The RPCs for MCP servers. Only administrators manage them. */
export function mcpServerHandlers(context: AgentsHandlerContext): Methods {
  const { mcpServers, record, clock, ids, isPrivateHost, publishHint, waitForCaches } = context;
  const oauthClients = createOAuthClients(context);

  return {
    async createMcpServer({ idempotencyKey, clientSecret: box, ...request }, call) {
      const { userId } = administratorOf(call);
      const secret = oauthClients.secretOf(box, 'createMcpServer', call);
      const oauth = nextOAuth(undefined, request.oauth, secret !== undefined);
      const form = normalizeMcpServer({ ...request, oauth });
      checkMcpServer(form, isPrivateHost);
      const server = newMcpServer(form, ids('mcp'), userId, clock.now());
      const message = { mcpServer: mcpServerMessage(server), replayed: false };
      const creation = {
        key: idempotencyKey,
        request: CreateMcpServerRequest.encode({ ...request, idempotencyKey: '', clientSecret: undefined }),
        answer: CreateMcpServerResponse.encode(message).finish(),
      };
      const { mcpServerId, name } = server;
      await record({ action: 'mcp-server.create', targetId: mcpServerId, data: { name } }, call);
      if (oauth && secret) await oauthClients.put(mcpServerId, oauth, secret, call);
      let isCreated = false;
      try {
        const { answer, replayed } = await mcpServers.create(server, creation, call);
        isCreated = !replayed;
        return { ...CreateMcpServerResponse.decode(answer), replayed };
      } finally {
        if (secret && !isCreated) await oauthClients.delete(mcpServerId, call);
      }
    },

    async listMcpServers({ page, q }, call) {
      const { userId } = administratorOf(call);
      checkSearch(q);
      const { items, nextCursor } = await mcpServers.list(userId, q, checkPage(page), call);
      return { mcpServers: items.map(mcpServerMessage), page: { nextCursor } };
    },

    async getMcpServer({ mcpServerId }, call) {
      administratorOf(call);
      return { mcpServer: mcpServerMessage(await mcpServers.server(mcpServerId, call)) };
    },

    async updateMcpServer({ mcpServerId, ifRevisions, clientSecret: box, oauth: given, ...request }, call) {
      administratorOf(call);
      const secret = oauthClients.secretOf(box, 'updateMcpServer', call);
      const { revision, oauth: former } = await mcpServers.server(mcpServerId, call);
      checkRevision(MCP_SERVER_NOUN, revision, ifRevisions);
      const isOAuthGiven = given !== undefined || secret !== undefined;
      /** The checked members that change, for a server with these settings. */
      const patchFor = (before: McpOAuth | undefined) => {
        const oauth = nextOAuth(before, given, secret !== undefined);
        const patch = { ...mcpServerPatchOf(request), ...(isOAuthGiven && { oauth }) };
        checkMcpServer(patch, isPrivateHost);
        return patch;
      };
      const patch = patchFor(former);
      const data = { changes: Object.keys(patch) };
      await record({ action: 'mcp-server.update', targetId: mcpServerId, data }, call);
      if (patch.oauth && secret) await oauthClients.put(mcpServerId, patch.oauth, secret, call);
      const change = (server: McpServer) => {
        checkRevision(MCP_SERVER_NOUN, server.revision, ifRevisions);
        // Another request may have changed the settings since they were read.
        return applyMcpServerPatch(server, patchFor(server.oauth), clock.now());
      };
      const after = await mcpServers.change(mcpServerId, change, call);
      if (former?.hasClientSecret && !after.oauth?.hasClientSecret)
        await oauthClients.delete(mcpServerId, call);
      // Publish even if nothing changed: the request may repeat one whose answer was lost.
      publishHint('extensions.changed', mcpServerId);
      await waitForCaches();
      return { mcpServer: mcpServerMessage(after) };
    },

    async deleteMcpServer({ mcpServerId, ifRevisions }, call) {
      administratorOf(call);
      const check = (revision: number) => checkRevision(MCP_SERVER_NOUN, revision, ifRevisions);
      const { oauth } = await mcpServers.server(mcpServerId, call);
      await record({ action: 'mcp-server.delete', targetId: mcpServerId }, call);
      await mcpServers.delete(mcpServerId, check, clock.now(), call);
      if (oauth?.hasClientSecret) await oauthClients.delete(mcpServerId, call);
      publishHint('extensions.changed', mcpServerId);
      await waitForCaches();
      return {};
    },
  };
}
