import { Type } from 'typebox';
import { refuse } from '../../../lib/errors.ts';
import { checkPath } from '../../input/path.ts';
import { type Route, route } from '../../route.ts';
import { ENDPOINTS } from './endpoints.ts';
import { WELL_KNOWN } from './protected-resources.ts';

const JSON_TYPE = 'application/json; charset=utf-8';
const MAX_AGE_SECONDS = 300;

const ResourceMetadata = Type.Object(
  {
    resource: Type.String({
      description: 'The URL of the endpoint, which access tokens may have as audience.',
      examples: ['https://agents.example.com/api/v1/mcp'],
    }),
    authorization_servers: Type.Array(Type.String(), {
      description: 'The issuer of the accepted access tokens: the configured identity provider.',
      examples: [['https://login.example.com']],
    }),
    scopes_supported: Type.Array(Type.String(), {
      description: 'The scopes with the prefix that they have at the identity provider.',
      examples: [['agents:mcp', 'agents:approve']],
    }),
    bearer_methods_supported: Type.Array(Type.Literal('header'), { examples: [['header']] }),
    resource_name: Type.String({ examples: ['Agent Hosting Service'] }),
  },
  { title: 'ResourceMetadata', description: 'The OAuth metadata of an endpoint (RFC 9728).' },
);

const metadataRoute = (suffix: string, endpoint: string, operationId: string, summary: string): Route =>
  route.raw({
    method: 'GET',
    path: WELL_KNOWN + suffix,
    atRoot: true,
    access: 'open',
    operationId,
    tag: 'Protocols',
    summary,
    description:
      'Clients read from this document where their user can log in (RFC 9728). It exists in team mode if ' +
      'SERVICE_OIDC_AUDIENCE is set.',
    responses: {
      200: {
        description: 'The document.',
        content: { 'application/json': { schema: ResourceMetadata } },
      },
    },
    impliedErrors: 'none',
    errors: [
      ...(['HOST_NOT_ALLOWED', 'CSRF_REJECTED', 'ROUTE_NOT_FOUND', 'DEPENDENCY_UNAVAILABLE'] as const),
      ...(endpoint.includes('{agent_id}') ? (['INVALID_REQUEST', 'AGENT_NOT_FOUND'] as const) : []),
    ],
    createHandler:
      ({ authenticator: { resources } }) =>
      async (request, reply) => {
        const params = request.params as Record<string, string>;
        checkPath(params);
        // The document is the same for agents that do not exist.
        const path = endpoint.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
        const { trace } = request.span;
        const metadata = await resources.metadata(path, { trace, requestId: request.id });
        if (!metadata)
          throw refuse('ROUTE_NOT_FOUND', 'The service accepts no access tokens of an identity provider.');
        reply.header('cache-control', `public, max-age=${MAX_AGE_SECONDS}`).type(JSON_TYPE);
        return JSON.stringify(metadata);
      },
  });

/** The metadata of the protocol endpoints as protected resources. Without a path, it is that of `/api/v1/mcp`. */
export const resourceMetadataRoutes = [
  metadataRoute('', ENDPOINTS.mcp, 'getResourceMetadata', 'Get the OAuth metadata of the MCP endpoint'),
  metadataRoute(
    ENDPOINTS.mcp,
    ENDPOINTS.mcp,
    'getMcpResourceMetadata',
    'Get the OAuth metadata of /api/v1/mcp',
  ),
  metadataRoute(
    ENDPOINTS.rootMcp,
    ENDPOINTS.rootMcp,
    'getRootMcpResourceMetadata',
    'Get the OAuth metadata of /mcp',
  ),
  metadataRoute(
    ENDPOINTS.agentMcp,
    ENDPOINTS.agentMcp,
    'getAgentMcpResourceMetadata',
    'Get the OAuth metadata of the MCP endpoint of an agent',
  ),
  metadataRoute(
    ENDPOINTS.openai,
    ENDPOINTS.openai,
    'getOpenaiResourceMetadata',
    'Get the OAuth metadata of the OpenAI-compatible API',
  ),
];
