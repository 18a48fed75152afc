import { list, ok } from '../envelope.ts';
import { idempotencyKey, ifMatch } from '../input/headers.ts';
import { route } from '../route.ts';
import { closed, deleted, id, pageRequest, paging, search } from '../schemas/common.ts';
import {
  EnvironmentCreation,
  EnvironmentPatch,
  EnvironmentShape,
  EnvironmentVersionShape,
  idleOf,
  networkOf,
  sandboxOf,
  shownEnvironment,
  shownEnvironmentVersion,
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
      'For administrators. What the provider cannot keep is refused, with the reason. Whatever is left out is as in ' +
      'the default environment.',
    headers: ['Idempotency-Key'],
    body: EnvironmentCreation,
    example: {
      name: 'builds',
      sandbox: { provider: 'bubblewrap', memory_mib: 2_048, command_timeout_seconds: 600 },
      network: { mode: 'limited', allowed_hosts: ['api.example.com'] },
      variables: { CI: 'true' },
    },
    success: { status: 201, description: 'The new environment.', data: EnvironmentShape },
    errors: ['FORBIDDEN', 'NAME_TAKEN'],
    async answer({ clients, call, body, request }) {
      const { environment, replayed: again } = await clients.agents.createEnvironment(
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
      return ok(shownEnvironment(environment), { ...etag(environment?.version), ...replayed(again) });
    },
  }),

  route({
    method: 'GET',
    path: '/admin/environments',
    operationId: 'listEnvironments',
    tag: 'Environments',
    summary: 'List the environments',
    description: 'For administrators. Newest first.',
    query: closed({ ...paging, q: search('A part of the name, or an id.') }),
    success: { status: 200, description: 'A page of environments.', data: EnvironmentShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const asked = { page: pageRequest(query), q: query.q ?? '' };
      const { environments, page } = await clients.agents.listEnvironments(asked, call);
      return list(environments.map(shownEnvironment), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getEnvironment',
    tag: 'Environments',
    summary: 'Read an environment',
    description: 'For administrators. The ETag is its version, for If-Match.',
    success: { status: 200, description: 'The environment.', data: EnvironmentShape },
    errors: ['FORBIDDEN', 'ENVIRONMENT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const asked = { environmentId: param('environment_id') };
      const { environment } = await clients.agents.getEnvironment(asked, call);
      return ok(shownEnvironment(environment), etag(environment?.version));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    operationId: 'updateEnvironment',
    tag: 'Environments',
    summary: 'Change an environment',
    description:
      'For administrators. An absent member stays as it is; one that is given replaces that part as a whole. Every change ' +
      'makes a new version, which sandboxes get that are made from then on. While it is disabled no session begins in it. ' +
      'With If-Match the change happens only to that version.',
    headers: ['If-Match'],
    body: EnvironmentPatch,
    example: { variables: { CI: 'true', LANG: 'C.UTF-8' } },
    success: { status: 200, description: 'The environment as it is now.', data: EnvironmentShape },
    errors: ['FORBIDDEN', 'ENVIRONMENT_NOT_FOUND', 'VERSION_CONFLICT'],
    async answer({ clients, call, param, body, request }) {
      const { environment } = await clients.agents.updateEnvironment(
        {
          environmentId: param('environment_id'),
          ifVersion: ifMatch(request.raw),
          sandbox: body.sandbox && sandboxOf(body.sandbox),
          network: body.network && networkOf(body.network),
          tenancy: body.tenancy,
          idle: body.idle && idleOf(body.idle),
          variables: body.variables && { entries: body.variables },
          enabled: body.enabled,
        },
        call,
      );
      return ok(shownEnvironment(environment), etag(environment?.version));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    operationId: 'deleteEnvironment',
    tag: 'Environments',
    summary: 'Delete an environment',
    description:
      'For administrators. Refused while an agent or an assistant names it, and for the default environment.',
    success: {
      status: 200,
      description: 'It is gone.',
      data: deleted('environment', id('env', 'the environment')),
    },
    errors: ['FORBIDDEN', 'ENVIRONMENT_NOT_FOUND', 'RESOURCE_IN_USE'],
    async answer({ clients, call, param }) {
      await clients.agents.deleteEnvironment({ environmentId: param('environment_id') }, call);
      return ok({ environment_id: param('environment_id'), deleted: true });
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/versions`,
    operationId: 'listEnvironmentVersions',
    tag: 'Environments',
    summary: 'List the versions of an environment',
    description: 'For administrators. Newest first.',
    query: closed(paging),
    success: { status: 200, description: 'A page of versions.', data: EnvironmentVersionShape, list: true },
    errors: ['FORBIDDEN', 'ENVIRONMENT_NOT_FOUND', 'INVALID_CURSOR'],
    async answer({ clients, call, param, query }) {
      const asked = { environmentId: param('environment_id'), page: pageRequest(query) };
      const { versions, page } = await clients.agents.listEnvironmentVersions(asked, call);
      return list(versions.map(shownEnvironmentVersion), page);
    },
  }),
];
