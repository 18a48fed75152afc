import packageJson from '../../package.json' with { type: 'json' };
import { acceptedScopes, defaultAccess, type RouteAccess } from '../access.ts';
import { API_PREFIX } from '../register-route.ts';
import { isRaw, type Route, TAGS } from '../route.ts';
import { ROUTES } from '../routes.ts';
import { type Components, collect, noComponents } from './components.ts';
import { ERROR_ENVELOPE, errorResponses, impliedErrors, PROTOCOL_ERRORS } from './errors.ts';
import { headerParameters, pathParameters, queryParameters, shareQueryParameters } from './parameters.ts';
import { hasTag, successResponses } from './responses.ts';
import { SECURITY, SECURITY_SCHEMES, TOKEN_ONLY } from './security.ts';

const DESCRIPTION =
  'The service hosts agents. An agent works in sessions, turn by turn, and everything that happens in a session is an event ' +
  'of its journal.\n\n' +
  'A session is created in one of these ways:\n\n' +
  '- `POST /agents/{agent_id}/conversations` begins a conversation with an agent.\n' +
  '- `POST /assistants/{assistant_id}/conversations` begins a conversation with an assistant.\n' +
  '- `POST /sessions/{session_id}/fork` begins a conversation of the same agent or assistant with existing history.\n' +
  '- `POST /deployments/{deployment_id}/trigger` starts a session with a signed webhook.\n\n' +
  'In local mode no credential is required. The security requirements of the operations apply in team mode ' +
  '(`SERVICE_AUTH_MODE=oidc`).\n\n' +
  'Every response also has the header `traceparent` (W3C Trace Context), the headers `Cache-Control`, `Content-Security-Policy`, `Cross-Origin-Opener-Policy`, ' +
  '`Cross-Origin-Resource-Policy`, `Referrer-Policy`, `X-Content-Type-Options`, `X-Frame-Options` and those that HTTP requires. A newer release may add ' +
  'members to responses and values to events; clients ignore those that they do not know.';

/** The OpenAPI 3.1 document of this release, made from the declared routes. */
export function renderOpenApi(origin: string): object {
  const components = noComponents();
  components.schemas.ErrorEnvelope = ERROR_ENVELOPE;
  const paths: Record<string, Record<string, object>> = {};
  const operations: object[] = [];
  for (const route of ROUTES) {
    const servers = serversOf(route, origin);
    const shared: Record<string, object> = servers ? { servers } : {};
    const operation = operationOf(route, components);
    operations.push(operation);
    paths[route.path] = { ...shared, ...paths[route.path], [route.method.toLowerCase()]: operation };
  }
  shareQueryParameters(operations, components);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Hosting Service',
      version: packageJson.version,
      description: DESCRIPTION,
      contact: { name: 'The operator of this service', url: origin },
    },
    servers: [{ url: `${origin}${API_PREFIX}` }],
    // Operations with another requirement have a member of their own.
    security: SECURITY,
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: { ...components, securitySchemes: SECURITY_SCHEMES },
  };
}

/** The servers of a path that is not only below the prefix of the API. */
function serversOf(route: Route, origin: string): object[] | undefined {
  if (!isRaw(route)) return undefined;
  if (route.atRoot) return [{ url: origin }];
  return route.alsoAtRoot ? [{ url: `${origin}${API_PREFIX}` }, { url: origin }] : undefined;
}

function operationOf(route: Route, components: Components): object {
  const { method, path, access = defaultAccess(method, API_PREFIX + path), headers = [] } = route;
  const requestBody = requestBodyOf(route, components);
  const protocol = isRaw(route) ? route.config?.protocol : undefined;
  const shape = protocol && PROTOCOL_ERRORS[protocol];
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    description: route.description,
    ...securityOf(route, access),
    ...(access !== 'open' && { 'x-required-scope': acceptedScopes(access).join(' or ') }),
    parameters: [
      ...pathParameters(path, components),
      ...queryParameters(route.query, components),
      ...headerParameters(hasTag(route) ? [...headers, 'If-None-Match'] : headers, components),
      ...(isRaw(route) ? (route.parameters ?? []) : []),
    ],
    ...(requestBody ? { requestBody } : {}),
    responses: {
      ...successResponses(route, components),
      ...errorResponses(route.errors, impliedErrors(route), components, shape),
    },
  };
}

/** Empty for the requirements of the whole document. */
function securityOf(route: Route, access: RouteAccess): { security?: readonly object[] } {
  if (isRaw(route) && route.security) return { security: route.security };
  if (access === 'open') return { security: [] };
  return acceptedScopes(access).includes('mcp') ? { security: TOKEN_ONLY } : {};
}

function requestBodyOf(route: Route, components: Components): object | undefined {
  const { body, example } = route;
  if (!body) return isRaw(route) ? route.requestBody : undefined;
  return {
    required: isRaw(route) || !route.bodyOptional,
    content: { 'application/json': { schema: collect(body, components), example } },
  };
}
