import { Type } from 'typebox';
import { list, ok } from '../envelope.ts';
import { route } from '../route.ts';
import { closed, optional, pageRequest, paging } from '../schemas/common.ts';
import { SandboxShape, shownSandbox } from '../schemas/sandboxes.ts';

const ONE = '/admin/sandboxes/{sandbox_id}';

export const sandboxRoutes = [
  route({
    method: 'GET',
    path: '/admin/sandboxes',
    operationId: 'listSandboxes',
    tag: 'Sandboxes',
    summary: 'List the sandboxes',
    description: 'For administrators. Newest first; those that have ended only when they are asked for.',
    query: closed({
      ...paging,
      status: optional(
        Type.Enum(['ended', 'all'], {
          description: 'Those that have ended, or all. Without it: those that are there.',
        }),
      ),
    }),
    success: { status: 200, description: 'A page of sandboxes.', data: SandboxShape, list: true },
    errors: ['FORBIDDEN', 'INVALID_CURSOR'],
    async answer({ clients, call, query }) {
      const asked = { page: pageRequest(query), status: query.status ?? '' };
      const { sandboxes, page } = await clients.sessions.listSandboxes(asked, call);
      return list(sandboxes.map(shownSandbox), page);
    },
  }),

  route({
    method: 'GET',
    path: ONE,
    operationId: 'getSandbox',
    tag: 'Sandboxes',
    summary: 'Read a sandbox',
    description: 'For administrators.',
    success: { status: 200, description: 'The sandbox.', data: SandboxShape },
    errors: ['FORBIDDEN', 'SANDBOX_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { sandbox } = await clients.sessions.getSandbox({ sandboxId: param('sandbox_id') }, call);
      return ok(shownSandbox(sandbox));
    },
  }),

  route({
    method: 'POST',
    path: `${ONE}/terminate`,
    operationId: 'terminateSandbox',
    tag: 'Sandboxes',
    summary: 'Terminate a sandbox',
    description:
      'For administrators. Its runner ends it and whatever runs in it, shortly after this answer; the workspace stays, and ' +
      'the next command gets a new sandbox. One that has ended stays as it is.',
    success: { status: 202, description: 'The sandbox as it is at the moment.', data: SandboxShape },
    errors: ['FORBIDDEN', 'SANDBOX_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const { sandbox } = await clients.sessions.terminateSandbox({ sandboxId: param('sandbox_id') }, call);
      return ok(shownSandbox(sandbox));
    },
  }),
];
