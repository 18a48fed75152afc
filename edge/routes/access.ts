import { ok } from '../envelope.ts';
import { ifMatch } from '../input/headers.ts';
import { route } from '../route.ts';
import { AccessChange, AccessShape, serializeAccess } from '../schemas/access.ts';
import { etag } from './etag.ts';

const PATH = '/agents/{agent_id}/access';

export const accessRoutes = [
  route({
    method: 'GET',
    path: PATH,
    operationId: 'getAgentAccess',
    tag: 'Agents',
    summary: 'Get the access settings of an agent',
    description: 'Requires manage access. The ETag is the `revision` of the settings, for `If-Match`.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The access settings.', data: AccessShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'AGENT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const settings = await clients.agents.getAgentAccess({ agentId: param('agent_id') }, call);
      return ok(serializeAccess(settings), etag(settings.version));
    },
  }),

  route({
    method: 'PUT',
    path: PATH,
    operationId: 'setAgentAccess',
    tag: 'Agents',
    summary: 'Set the access settings of an agent',
    description:
      'Requires manage access. Replaces all settings and takes effect immediately. The creator always keeps manage access. ' +
      'Existing sessions keep their owners. With `If-Match`, the request fails if the settings have changed since.',
    headers: ['If-Match'],
    body: AccessChange,
    example: { visibility: 'allowlist', managers: [], users: [], groups: ['support'] },
    success: { status: 200, description: 'The new access settings.', data: AccessShape, headers: ['ETag'] },
    errors: ['FORBIDDEN', 'AGENT_NOT_FOUND'],
    async answer({ clients, call, param, body, request }) {
      const change = { agentId: param('agent_id'), access: body, ifRevisions: ifMatch(request.raw) };
      const settings = await clients.agents.setAgentAccess(change, call);
      return ok(serializeAccess(settings), etag(settings.version));
    },
  }),
];
