import { Type } from 'typebox';
import { list, ok } from '../envelope.ts';
import { route } from '../route.ts';
import { closed, optional, pageRequest, paging } from '../schemas/common.ts';
import { SandboxShape, serializeSandbox } from '../schemas/sandboxes.ts';

const ONE = '/admin/sandboxes/{sandbox_id}';

export const sandboxRoutes = [
  route({
    method: 'GET',
    path: '/admin/sandboxes',
    operationId: 'listSandboxes',
    tag: 'Sandboxes',
    summary: 'List sandboxes',
    description:
      'Requires an administrator. Returns sandboxes, newest first. By default, ended sandboxes are omitted.',
    query: closed({
      ...paging,
      status: optional(
        Type.Enum(['ended', 'all'], {
          description: '`ended`: only ended sandboxes. `all`: all sandboxes. Default: only existing ones.',
        }),
      ),
    }),
    success: { status: 200, description: 'A page of sandboxes.', data: SandboxShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const request = { page: pageRequest(query), status: query.status ?? '' };
      const { sandboxes, page } = await clients.sessions.listSandboxes(request, call);
      return list(sandboxes.map(serializeSandbox), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getSandbox',
    tag: 'Sandboxes',
    summary: 'Get a sandbox',
    description: 'Requires an administrator.',
    success: { status: 200, description: 'The sandbox.', data: SandboxShape },
    errors: ['FORBIDDEN', 'SANDBOX_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { sandbox } = await clients.sessions.getSandbox({ sandboxId: param('sandbox_id') }, call);
      return ok(serializeSandbox(sandbox));
    },
  }),

  route({
    method: 'POST',
    path: `${ONE}/terminate`,
    operationId: 'terminateSandbox',
    tag: 'Sandboxes',
    summary: 'Terminate a sandbox',
    description:
      'Requires an administrator. Its runner ends the sandbox and its processes shortly after this response. The workspace ' +
      'is kept, and the next command gets a new sandbox. Terminating an ended sandbox has no effect.',
    success: { status: 202, description: 'The current state of the sandbox.', data: SandboxShape },
    errors: ['FORBIDDEN', 'SANDBOX_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { sandbox } = await clients.sessions.terminateSandbox({ sandboxId: param('sandbox_id') }, call);
      return ok(serializeSandbox(sandbox));
    },
  }),
];
