import { type TSchema, Type } from 'typebox';
import packageJson from '../../package.json' with { type: 'json' };
import { closedDefault } from '../access.ts';
import type { Route } from '../route.ts';
import { ROUTES } from '../routes.ts';
import { Page } from '../schemas/common.ts';
import { API } from '../serve.ts';
import { aiStreamOperations } from './ai-stream.ts';
import { type Components, collect } from './components.ts';
import { ERROR_ENVELOPE, errorResponses, impliedErrors } from './errors.ts';
import { exampleOf } from './example.ts';
import { fileOperations } from './files.ts';
import { loginOperations } from './login.ts';
import { headerParameters, pathParameters, queryParameters } from './parameters.ts';
import { probePaths } from './probes.ts';
import { SECURITY_SCHEMES, securityOf } from './security.ts';
import { streamOperations } from './streams.ts';
import { triggerOperation } from './trigger.ts';

/** The OpenAPI 3.1 document of this release, made from the routes and their schemas. */
export function renderOpenApi(origin: string): object {
  const components: Components = {};
  const paths: Record<string, Record<string, object>> = {};
  const add = (path: string, method: string, operation: object) => {
    paths[path] ??= {};
    const security = securityOf(closedDefault(method, API + path));
    paths[path][method.toLowerCase()] = { security, ...operation };
  };
  for (const route of ROUTES) add(route.path, route.method, operationOf(route, components));
  for (const operation of streamOperations(components)) add(...operation);
  for (const operation of aiStreamOperations(components)) add(...operation);
  for (const operation of fileOperations(components)) add(...operation);
  for (const operation of loginOperations(components)) add(...operation);
  add(...triggerOperation());
  Object.assign(paths, probePaths(origin, components));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Agent Hosting Service',
      version: packageJson.version,
      description:
        'Hosts Agents: conversations and signed webhooks start Sessions, in which an Agent works turn by turn. ' +
        'Everything it does is an event of the Session. In local mode no credential is needed; what is said of them here holds ' +
        'where people log in.',
    },
    servers: [{ url: `${origin}${API}` }],
    tags: [
      'Agents',
      'Assistants',
      'Conversations',
      'Sessions',
      'Approvals',
      'Events',
      'Files',
      'Deployments',
      'Environments',
      'Sandboxes',
      'Authentication',
      'Users',
      'Audit',
      'Configuration',
      'Webhook trigger',
      'Operations',
    ].map((name) => ({
      name,
    })),
    paths,
    components: {
      schemas: { ...components, ErrorEnvelope: ERROR_ENVELOPE },
      securitySchemes: SECURITY_SCHEMES,
    },
  };
}

function operationOf(route: Route, components: Components): object {
  const { success, body, headers = [] } = route;
  const answer = envelope(success.data, success.list ?? false);
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    ...(route.access ? { security: securityOf(route.access) } : {}),
    parameters: [
      ...pathParameters(route.path),
      ...queryParameters(route.query, components),
      ...headerParameters(headers),
    ],
    ...(body
      ? {
          requestBody: {
            required: !route.bodyOptional,
            content: { 'application/json': { schema: collect(body, components), example: route.example } },
          },
        }
      : {}),
    responses: {
      [success.status]: {
        description: success.description,
        content: {
          'application/json': { schema: collect(answer, components), example: exampleOf(answer) },
        },
      },
      ...errorResponses([...impliedErrors(route), ...route.errors]),
    },
  };
}

function envelope(data: TSchema, list: boolean): TSchema {
  const outer = { code: Type.Literal('OK'), message: Type.Literal('success') };
  return list
    ? Type.Object({ ...outer, data: Type.Array(data), page: Page })
    : Type.Object({ ...outer, data });
}
