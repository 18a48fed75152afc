import { type TSchema, Type } from 'typebox';
import { EVENT_DATA } from '../../lib/events.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { defaultAccess } from '../access.ts';
import { API_PREFIX } from '../register-route.ts';
import { isRaw, type RawResponse, type RawRoute, type Route, TAGS } from '../route.ts';
import { ROUTES } from '../routes.ts';
import { PageShape } from '../schemas/common.ts';
import { type Components, collect } from './components.ts';
import { ERROR_ENVELOPE, errorResponses, impliedErrors } from './errors.ts';
import { exampleOf } from './example.ts';
import { headerParameters, pathParameters, queryParameters } from './parameters.ts';
import { SECURITY_SCHEMES, securityOf } from './security.ts';

const DESCRIPTION =
  'The service hosts agents. An agent works in sessions, turn by turn, and everything that happens in a session is an event ' +
  'of its journal.\n\n' +
  'A session is created in one of these ways:\n\n' +
  '- `POST /agents/{agent_id}/conversations` begins a conversation with an agent.\n' +
  '- `POST /assistants/{assistant_id}/conversations` begins a conversation with an assistant.\n' +
  '- `POST /sessions/{session_id}/fork` begins a conversation of the same agent or assistant with existing history.\n' +
  '- `POST /deployments/{deployment_id}/trigger` starts a session with a signed webhook.\n\n' +
  'In local mode no credential is required. The security requirements of the operations apply in team mode ' +
  '(`SERVICE_AUTH_MODE=oidc`).';

/** The OpenAPI 3.1 document of this release, made from the declared routes. */
export function renderOpenApi(origin: string): object {
  const components: Components = {};
  const paths: Record<string, Record<string, object>> = {};
  for (const route of ROUTES) {
    const shared: Record<string, object> = isRaw(route) && route.atRoot ? { servers: [{ url: origin }] } : {};
    const operation = { [route.method.toLowerCase()]: operationOf(route, components) };
    paths[route.path] = { ...shared, ...paths[route.path], ...operation };
  }
  for (const [type, data] of Object.entries(EVENT_DATA)) {
    components[`data of ${type}`.replace(/[^\w]+/g, '_')] = collect(data, components);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Agent Hosting Service', version: packageJson.version, description: DESCRIPTION },
    servers: [{ url: `${origin}${API_PREFIX}` }],
    tags: TAGS.map((name) => ({ name })),
    paths,
    components: {
      schemas: { ...components, ErrorEnvelope: ERROR_ENVELOPE },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function operationOf(route: Route, components: Components): object {
  const { method, path, access = defaultAccess(method, API_PREFIX + path), headers = [] } = route;
  const requestBody = requestBodyOf(route, components);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    security: (isRaw(route) && route.security) || securityOf(access),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(route.query, components),
      ...headerParameters(isTagged(route) ? [...headers, 'If-None-Match'] : headers),
      ...(isRaw(route) ? (route.parameters ?? []) : []),
    ],
    ...(requestBody ? { requestBody } : {}),
    responses: {
      ...(isRaw(route) ? rawResponses(route, components) : jsonResponse(route.success, components)),
      ...(isTagged(route) ? { 304: NOT_MODIFIED } : {}),
      ...errorResponses([...impliedErrors(route), ...route.errors]),
    },
  };
}

const NOT_MODIFIED = { description: 'The ETag of the response is one of those in If-None-Match.' };

/** Whether the response has an ETag that If-None-Match can name: a page of a list. */
function isTagged(route: Route): boolean {
  return !isRaw(route) && route.method === 'GET' && route.success.list === true;
}

function requestBodyOf(route: Route, components: Components): object | undefined {
  const { body, example } = route;
  if (!body) return isRaw(route) ? route.requestBody : undefined;
  return {
    required: isRaw(route) || !route.bodyOptional,
    content: { 'application/json': { schema: collect(body, components), example } },
  };
}

function jsonResponse(
  {
    status = 200,
    description,
    data,
    list = false,
  }: { status?: number; description: string; data: TSchema; list?: boolean },
  components: Components,
): Record<number, object> {
  const schema = successEnvelope(data, list);
  const content = { schema: collect(schema, components), example: exampleOf(schema) };
  return { [status]: { description, content: { 'application/json': content } } };
}

function rawResponses({ responses }: RawRoute, components: Components): Record<string, object> {
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) => [status, rawResponse(response, components)]),
  );
}

function rawResponse(response: RawResponse, components: Components): object {
  if ('data' in response) return jsonResponse(response, components)[200] ?? {};
  const { content, ...rest } = response;
  if (!content) return rest;
  const collected = Object.entries(content).map(([type, { schema, ...media }]) => [
    type,
    { ...media, schema: collect(schema, components) },
  ]);
  return { ...rest, content: Object.fromEntries(collected) };
}

function successEnvelope(data: TSchema, list: boolean): TSchema {
  const outer = { code: Type.Literal('OK'), message: Type.Literal('success') };
  return list
    ? Type.Object({ ...outer, data: Type.Array(data), page: PageShape })
    : Type.Object({ ...outer, data });
}
