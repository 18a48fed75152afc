import { Type } from 'typebox';
import type { PeerSealer } from '../../lib/grpc/sealed-for-peer.ts';
import { AgentsServiceDefinition } from '../../proto/gen/ahs/agents/v1/agents.ts';
import { list, ok } from '../envelope.ts';
import { idempotencyKey, ifMatch } from '../input/headers.ts';
import { route } from '../route.ts';
import { closed, deleted, id, pageRequest, paging, search } from '../schemas/common.ts';
import {
  CatalogueReview,
  CatalogueShape,
  ProbeRequest,
  ProbeShape,
  serializeCatalogue,
  serializeProbe,
} from '../schemas/mcp-catalogues.ts';
import {
  clientSecretOf,
  createdServer,
  McpServerCreation,
  McpServerPatch,
  McpServerShape,
  serializeMcpServer,
  settingsOf,
} from '../schemas/mcp-servers.ts';
import { etag } from './etag.ts';
import { replayed } from './replayed.ts';

const ALL = '/admin/mcp-servers';
const ONE = `${ALL}/{mcp_server_id}`;
const tag = 'MCP servers';
/** The time limits for connecting and for reading, together. */
const PROBE_TIMEOUT_MS = 45_000;
/** A review names every tool of a catalogue of up to 4 MiB. */
const MAX_REVIEW_BYTES = 4 * 1024 * 1024;

/** Encrypts the client secret of a body for the agents service, which passes it on. Undefined: the body has none. */
function sealedClientSecret(
  sealer: PeerSealer,
  body: Parameters<typeof clientSecretOf>[0],
  method: 'createMcpServer' | 'updateMcpServer',
  requestId: string,
) {
  const members = clientSecretOf(body);
  return (
    members && sealer.seal(members, { contract: AgentsServiceDefinition, method, peer: 'agents', requestId })
  );
}

export const mcpServerRoutes = [
  route({
    method: 'POST',
    path: ALL,
    operationId: 'createMcpServer',
    tag,
    summary: 'Create an MCP server',
    description:
      'Requires an administrator. `name`, `url` and `transport` never change. Models see the tools after a review.',
    headers: ['Idempotency-Key'],
    body: McpServerCreation,
    example: { name: 'github', url: 'https://mcp.example.com/mcp', transport: 'streamable_http' },
    success: { status: 201, description: 'The new MCP server.', data: McpServerShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'NAME_TAKEN', 'VAULT_SEALED'],
    async answer({ clients, sealer, call, body, request }) {
      const clientSecret = sealedClientSecret(sealer, body, 'createMcpServer', request.id);
      const creation = { ...createdServer(body), clientSecret, idempotencyKey: idempotencyKey(request.raw) };
      const { mcpServer, replayed: isReplay } = await clients.agents.createMcpServer(creation, call);
      return ok(serializeMcpServer(mcpServer), { ...etag(mcpServer?.revision), ...replayed(isReplay) });
    },
  }),

  route({
    method: 'GET',
    path: ALL,
    operationId: 'listMcpServers',
    tag,
    summary: 'List MCP servers',
    description: 'Requires an administrator. Returns MCP servers, newest first.',
    query: closed({ ...paging, q: search('Matches a part of the name, title or description, or an id.') }),
    success: { status: 200, description: 'A page of MCP servers.', data: McpServerShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const request = { page: pageRequest(query), q: query.q ?? '' };
      const { mcpServers, page } = await clients.agents.listMcpServers(request, call);
      return list(mcpServers.map(serializeMcpServer), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getMcpServer',
    tag,
    summary: 'Get an MCP server',
    description:
      'Requires an administrator. The ETag is its `revision`, for `If-Match`. A probe does not change the revision.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The MCP server.', data: McpServerShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'MCP_SERVER_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { mcpServer } = await clients.agents.getMcpServer({ mcpServerId: param('mcp_server_id') }, call);
      return ok(serializeMcpServer(mcpServer), etag(mcpServer?.revision));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    operationId: 'updateMcpServer',
    tag,
    summary: 'Update an MCP server',
    description:
      'Requires an administrator. Omitted members stay unchanged. The tools of a disabled server are not called. With ' +
      '`If-Match`, the request fails if the server has changed since.',
    headers: ['If-Match'],
    body: McpServerPatch,
    example: { enabled: false },
    success: { status: 200, description: 'The updated MCP server.', data: McpServerShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'MCP_SERVER_NOT_FOUND', 'VAULT_SEALED'],
    async answer({ clients, sealer, call, param, body, request }) {
      const mcpServerId = param('mcp_server_id');
      const clientSecret = sealedClientSecret(sealer, body, 'updateMcpServer', request.id);
      const change = { mcpServerId, ifRevisions: ifMatch(request.raw), ...settingsOf(body), clientSecret };
      const { mcpServer } = await clients.agents.updateMcpServer(change, call);
      return ok(serializeMcpServer(mcpServer), etag(mcpServer?.revision));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    operationId: 'deleteMcpServer',
    tag,
    summary: 'Delete an MCP server',
    description:
      'Requires an administrator. Fails with RESOURCE_IN_USE while an agent or an assistant has the server. With `If-Match`, ' +
      'the request fails if the server has changed since.',
    headers: ['If-Match'],
    success: {
      status: 200,
      description: 'The MCP server was deleted.',
      data: deleted('mcp_server', id('mcp', 'the MCP server')),
    },
    errors: ['FORBIDDEN', 'MCP_SERVER_NOT_FOUND', 'RESOURCE_IN_USE'],
    async answer({ clients, call, param, request }) {
      const mcpServerId = param('mcp_server_id');
      await clients.agents.deleteMcpServer({ mcpServerId, ifRevisions: ifMatch(request.raw) }, call);
      return ok({ mcp_server_id: mcpServerId, deleted: true });
    },
  }),

  route({
    method: 'POST',
    path: `${ONE}/probe`,
    operationId: 'probeMcpServer',
    tag,
    summary: 'Probe an MCP server',
    description:
      'Requires an administrator. Connects to the server, reads its catalogue, and compares it with the reviewed one. A server ' +
      'that cannot be reached is a successful response with a `problem`.',
    body: ProbeRequest,
    bodyOptional: true,
    example: {},
    success: { status: 200, description: 'The result.', data: ProbeShape },
    errors: ['FORBIDDEN', 'MCP_SERVER_NOT_FOUND', 'CREDENTIAL_NOT_FOUND', 'VAULT_SEALED'],
    async answer({ clients, call, param, body }) {
      const credentialId = body?.credential_id ?? '';
      const request = { mcpServerId: param('mcp_server_id'), credentialId };
      const options = { ...call, timeoutMs: PROBE_TIMEOUT_MS };
      return ok(serializeProbe(await clients.agents.probeMcpServer(request, options)));
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/catalogue`,
    operationId: 'getMcpCatalogue',
    tag,
    summary: 'Get the catalogue of an MCP server',
    description: 'Requires an administrator. The texts that models see come from the reviewed catalogue.',
    query: closed({
      of: Type.Optional(
        Type.Enum(['reviewed', 'seen'], {
          default: 'reviewed',
          description: 'The reviewed or the last seen catalogue.',
        }),
      ),
    }),
    success: { status: 200, description: 'The catalogue.', data: CatalogueShape },
    errors: ['FORBIDDEN', 'MCP_SERVER_NOT_FOUND', 'CATALOGUE_UNREVIEWED'],
    async answer({ clients, call, param, query }) {
      const request = { mcpServerId: param('mcp_server_id'), of: query.of ?? 'reviewed' };
      return ok(serializeCatalogue(await clients.agents.getCatalogue(request, call)));
    },
  }),

  route({
    method: 'PUT',
    path: `${ONE}/catalogue`,
    operationId: 'reviewMcpCatalogue',
    tag,
    summary: 'Review the catalogue of an MCP server',
    description:
      'Requires an administrator. Approves the last seen catalogue and decides about each of its tools, except those that stay ' +
      'pending. With `If-Match`, the request fails if the server has changed since.',
    headers: ['If-Match'],
    body: CatalogueReview,
    bodyLimit: MAX_REVIEW_BYTES,
    example: {
      sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
      tools: [{ name: 'find', offered: true, permission: 'ask', effect: 'read' }],
    },
    success: { status: 200, description: 'The MCP server.', data: McpServerShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'MCP_SERVER_NOT_FOUND', 'CATALOGUE_CHANGED'],
    async answer({ clients, call, param, body, request }) {
      const { sha256, tools, pending = [], offer_resources: offerResources = false } = body;
      const mcpServerId = param('mcp_server_id');
      const rules = tools.map((rule) => ({ ...rule, effect: rule.effect ?? '' }));
      const review = { mcpServerId, sha256, rules, pending, offerResources };
      const { mcpServer } = await clients.agents.reviewCatalogue(
        { ...review, ifRevisions: ifMatch(request.raw) },
        call,
      );
      return ok(serializeMcpServer(mcpServer), etag(mcpServer?.revision));
    },
  }),
];
