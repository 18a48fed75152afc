import { list, ok } from '../envelope.ts';
import { idempotencyKey, ifMatch } from '../input/headers.ts';
import { route } from '../route.ts';
import { closed, deleted, id, pageRequest, paging, search } from '../schemas/common.ts';
import {
  EnvironmentCreationBody,
  EnvironmentPatchBody,
  EnvironmentShape,
  EnvironmentVersionShape,
  idleOf,
  networkOf,
  sandboxOf,
  serializeEnvironment,
  serializeEnvironmentVersion,
} from '../schemas/environments.ts';
import { etag } from './etag.ts';
import { replayed } from './replayed.ts';

const ONE = '/admin/environments/{environment_id}';

export const environmentRoutes = [
  route({
    method: 'POST',
    path: '/admin/environments',
    operationId: 'createEnvironment',
    tag: 'Environments',
    summary: 'Create an environment',
    description:
      'Requires an administrator. Omitted members get the values of the default environment. Limits and networks that the ' +
      'sandbox provider of a runner cannot enforce are refused.',
    headers: ['Idempotency-Key'],
    body: EnvironmentCreationBody,
    example: {
      name: 'builds',
      sandbox: { memory_mib: 2_048, command_timeout_seconds: 600 },
      variables: { CI: 'true' },
    },
    success: { status: 201, description: 'The new environment.', data: EnvironmentShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'NAME_TAKEN'],
    async answer({ clients, call, body, request }) {
      const { environment, replayed: isReplay } = await clients.agents.createEnvironment(
        {
          name: body.name,
          spec: {
            sandbox: sandboxOf(body.sandbox ?? {}),
            network: networkOf(body.network ?? {}),
            tenancy: body.tenancy ?? 'session',
            idle: idleOf(body.idle ?? {}),
            variables: body.variables ?? {},
          },
          enabled: body.enabled ?? true,
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok(serializeEnvironment(environment), { ...etag(environment?.version), ...replayed(isReplay) });
    },
  }),

  route({
    method: 'GET',
    path: '/admin/environments',
    operationId: 'listEnvironments',
    tag: 'Environments',
    summary: 'List environments',
    description: 'Requires an administrator. Returns environments, newest first.',
    query: closed({ ...paging, q: search('Matches a part of the name, or an id.') }),
    success: { status: 200, description: 'A page of environments.', data: EnvironmentShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const request = { page: pageRequest(query), q: query.q ?? '' };
      const { environments, page } = await clients.agents.listEnvironments(request, call);
      return list(environments.map(serializeEnvironment), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getEnvironment',
    tag: 'Environments',
    summary: 'Get an environment',
    description: 'Requires an administrator. The ETag is the `revision` of the environment, for `If-Match`.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The environment.', data: EnvironmentShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'ENVIRONMENT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const request = { environmentId: param('environment_id') };
      const { environment } = await clients.agents.getEnvironment(request, call);
      return ok(serializeEnvironment(environment), etag(environment?.version));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    operationId: 'updateEnvironment',
    tag: 'Environments',
    summary: 'Update an environment',
    description:
      'Requires an administrator. Omitted members stay unchanged; a given member replaces that part completely. Every change ' +
      'creates a new version, which new sandboxes use. No session can start in a disabled environment. With `If-Match`, the ' +
      'request fails if the environment has changed since.',
    headers: ['If-Match'],
    body: EnvironmentPatchBody,
    example: { variables: { CI: 'true', LANG: 'C.UTF-8' } },
    success: {
      status: 200,
      description: 'The updated environment.',
      data: EnvironmentShape,
      headers: ['ETag'],
    },
    errors: ['FORBIDDEN', 'ENVIRONMENT_NOT_FOUND'],
    async answer({ clients, call, param, body, request }) {
      const { environment } = await clients.agents.updateEnvironment(
        {
          environmentId: param('environment_id'),
          ifRevisions: ifMatch(request.raw),
          sandbox: body.sandbox && sandboxOf(body.sandbox),
          network: body.network && networkOf(body.network),
          tenancy: body.tenancy,
          idle: body.idle && idleOf(body.idle),
          variables: body.variables && { entries: body.variables },
          enabled: body.enabled,
        },
        call,
      );
      return ok(serializeEnvironment(environment), etag(environment?.version));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    operationId: 'deleteEnvironment',
    tag: 'Environments',
    summary: 'Delete an environment',
    description:
      'Requires an administrator. Fails with RESOURCE_IN_USE while an agent or an assistant uses the environment, and for the ' +
      'default environment. With `If-Match`, the request fails if the environment has changed since.',
    headers: ['If-Match'],
    success: {
      status: 200,
      description: 'The environment was deleted.',
      data: deleted('environment', id('env', 'the environment')),
    },
    errors: ['FORBIDDEN', 'ENVIRONMENT_NOT_FOUND', 'RESOURCE_IN_USE'],
    async answer({ clients, call, param, request }) {
      const environmentId = param('environment_id');
      await clients.agents.deleteEnvironment({ environmentId, ifRevisions: ifMatch(request.raw) }, call);
      return ok({ environment_id: environmentId, deleted: true });
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/versions`,
    operationId: 'listEnvironmentVersions',
    tag: 'Environments',
    summary: 'List the versions of an environment',
    description: 'Requires an administrator. Returns the versions of the environment, newest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of versions.', data: EnvironmentVersionShape, list: true },
    errors: ['FORBIDDEN', 'ENVIRONMENT_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const request = { environmentId: param('environment_id'), page: pageRequest(query) };
      const { versions, page } = await clients.agents.listEnvironmentVersions(request, call);
      return list(versions.map(serializeEnvironmentVersion), page);
    },
  }),
];
