import { createHash, randomBytes } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { refuse } from '../../../lib/errors.ts';
import { VaultsServiceDefinition } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { ok } from '../../envelope.ts';
import { ifMatch } from '../../input/headers.ts';
import { routeUrl } from '../../register-route.ts';
import { route } from '../../route.ts';
import { deleted, id } from '../../schemas/common.ts';
import {
  BegunConnectionShape,
  ConnectionCreation,
  ConnectionPatch,
  ConnectionShape,
  ConnectionsShape,
  serializeAttempt,
  serializeConnectable,
  serializeConnection,
} from '../../schemas/connections.ts';
import { etag } from '../etag.ts';

const ALL = '/auth/connections';
const ONE = `${ALL}/{connection_id}`;
const CALLBACK = `${ALL}/callback`;
const DOCUMENT = `${ALL}/client.json`;
const tag = 'Authentication';
const BROWSER_BYTES = 32;
/** Discovery and the registration of a client ask other servers. */
const BEGIN_TIMEOUT_MS = 45_000;
const FINISH_TIMEOUT_MS = 30_000;

const digestOf = (browser: string) => createHash('sha256').update(browser).digest();

export const connectionRoutes = [
  route({
    method: 'GET',
    path: ALL,
    operationId: 'listConnections',
    tag,
    summary: 'List your connections',
    description: 'Returns your connections to MCP servers, and the servers to which you can connect.',
    success: { status: 200, description: 'Connections and servers.', data: ConnectionsShape },
    errors: [],
    async answer({ clients, call }) {
      const { connections, available } = await clients.vaults.listConnections({}, call);
      return ok({
        connections: connections.map(serializeConnection),
        available: available.map(serializeConnectable),
      });
    },
  }),

  route({
    method: 'POST',
    path: ALL,
    operationId: 'beginConnection',
    tag,
    summary: 'Connect to an MCP server',
    description:
      'Send the browser to `authorization_url`; it returns to `return_to`. With `token`, for a server without OAuth, the ' +
      'connection is made at once. A new connection replaces the earlier one to the same server. Requires a login, not a token.',
    body: ConnectionCreation,
    example: { mcp_server_id: 'mcp_01M8VQ4Z8T5X0R7C2B9N6K3JHG', return_to: '/sessions' },
    success: { status: 201, description: 'The attempt or the connection.', data: BegunConnectionShape },
    errors: [
      ...(['FORBIDDEN', 'MCP_SERVER_NOT_FOUND', 'OAUTH_CLIENT_REQUIRED'] as const),
      ...(['MCP_SERVER_UNREACHABLE', 'VAULT_SEALED'] as const),
    ],
    async answer({ clients, sealer, authenticator: { cookies }, call, body, request, reply }) {
      const { mcp_server_id: mcpServerId, return_to: returnTo = '', token } = body;
      const sealed = {
        contract: VaultsServiceDefinition,
        method: 'beginConnection',
        peer: 'vaults',
      } as const;
      // A browser that authorizes several servers at once has one value for all of them.
      const browser =
        cookies.connection(request.headers.cookie ?? '') || randomBytes(BROWSER_BYTES).toString('base64url');
      const beginning = {
        ...{ mcpServerId, returnTo, browserSha256: digestOf(browser) },
        token: token === undefined ? undefined : sealer.seal({ token }, { ...sealed, requestId: request.id }),
      };
      const options = { ...call, timeoutMs: BEGIN_TIMEOUT_MS };
      const { result } = await clients.vaults.beginConnection(beginning, options);
      const attempt = result?.$case === 'attempt' ? result.value : undefined;
      const connection = result?.$case === 'connection' ? serializeConnection(result.value) : null;
      if (attempt) cookies.setConnection(reply, browser);
      return ok({ ...serializeAttempt(attempt), connection });
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    operationId: 'updateConnection',
    tag,
    summary: 'Update a connection',
    description:
      'Changes whether sessions of your deployments can use the connection. With `If-Match`, the request fails if the ' +
      'connection has changed since.',
    headers: ['If-Match'],
    body: ConnectionPatch,
    example: { use_in_triggered_sessions: true },
    success: { status: 200, description: 'The connection.', data: ConnectionShape, headers: ['ETag'] },
    errors: ['CONNECTION_NOT_FOUND'],
    async answer({ clients, call, param, body, request }) {
      const change = {
        connectionId: param('connection_id'),
        useInTriggeredSessions: body.use_in_triggered_sessions,
        ifRevisions: ifMatch(request.raw),
      };
      const { connection } = await clients.vaults.updateConnection(change, call);
      return ok(serializeConnection(connection), etag(connection?.revision));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    operationId: 'deleteConnection',
    tag,
    summary: 'Disconnect from an MCP server',
    description:
      'Revokes the tokens at their issuer, if it can be reached, and deletes the connection. With `If-Match`, the request ' +
      'fails if the connection has changed since.',
    headers: ['If-Match'],
    success: {
      status: 200,
      description: 'The connection was deleted.',
      data: deleted('connection', id('crd', 'the connection')),
    },
    errors: ['CONNECTION_NOT_FOUND'],
    async answer({ clients, call, param, request }) {
      const connectionId = param('connection_id');
      const options = { ...call, timeoutMs: FINISH_TIMEOUT_MS };
      await clients.vaults.deleteConnection({ connectionId, ifRevisions: ifMatch(request.raw) }, options);
      return ok({ connection_id: connectionId, deleted: true });
    },
  }),

  route.raw({
    method: 'GET',
    path: CALLBACK,
    access: 'open',
    operationId: 'finishConnection',
    tag,
    summary: 'Finish a connection',
    description:
      'The authorization server redirects the browser to this URL with the result in the query. Each attempt can be finished ' +
      'once, by the user and the browser that began it.',
    responses: {
      302: {
        description:
          'A redirect to the `return_to` of the attempt. A refused request that accepts HTML is redirected to the page ' +
          '`/connections` of the console, with the error code in `refused`.',
        headers: ['Location'],
      },
    },
    errors: ['CONNECTION_REFUSED', 'VAULT_SEALED'],
    head: false,
    config: { isPage: true, refusalPage: '/connections' },
    createHandler:
      ({ clients: { vaults }, authenticator, sealer }) =>
      async (request, reply) => {
        await authenticator.authorize(request, reply, 'write').catch((cause: unknown) => {
          reply.removeHeader('www-authenticate');
          throw refuse('CONNECTION_REFUSED', 'Log in and begin the connection again.', { cause });
        });
        const browser = authenticator.cookies.connection(request.headers.cookie ?? '');
        const sealed = {
          contract: VaultsServiceDefinition,
          method: 'finishConnection',
          peer: 'vaults',
        } as const;
        const finishing = {
          answer: sealer.seal({ query: queryText(request) }, { ...sealed, requestId: request.id }),
          browserSha256: browser === '' ? Buffer.alloc(0) : digestOf(browser),
        };
        const options = { ...request.call, timeoutMs: FINISH_TIMEOUT_MS };
        const { returnTo } = await vaults.finishConnection(finishing, options);
        return reply.redirect(returnTo, 302);
      },
  }),

  route.raw({
    method: 'GET',
    path: DOCUMENT,
    access: 'open',
    operationId: 'getClientMetadata',
    tag,
    summary: 'Get the OAuth client metadata of this service',
    description:
      'The client id metadata document that authorization servers read. Its URL is the client id of this service, if ' +
      'SERVICE_PUBLIC_URL is an https: URL.',
    responses: {
      200: {
        description: 'The document.',
        content: { 'application/json': { schema: { type: 'object' } } },
      },
    },
    errors: [],
    config: { isPage: true },
    createHandler:
      ({ publicOrigin }) =>
      async (_, reply) =>
        reply.header('cache-control', 'public, max-age=3600').send(documentOf(publicOrigin())),
  }),
];

/** https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/ */
function documentOf(origin: string) {
  return {
    client_id: origin + routeUrl(DOCUMENT),
    client_name: 'Agent Hosting Service',
    client_uri: origin,
    redirect_uris: [origin + routeUrl(CALLBACK)],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
  };
}

/** The query of the URL, not decoded. */
function queryText({ url }: FastifyRequest): string {
  const mark = url.indexOf('?');
  return mark < 0 ? '' : url.slice(mark + 1);
}
