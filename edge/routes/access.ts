import { ok } from '../envelope.ts';
import { ifMatch } from '../input/headers.ts';
import { route } from '../route.ts';
import { AccessChange, AccessShape, shownAccess } from '../schemas/access.ts';
import { etag } from './etag.ts';

const PATH = '/agents/{agent_id}/access';

export const accessRoutes = [
  route({
    method: 'GET',
    path: PATH,
    operationId: 'getAgentAccess',
    tag: 'Agents',
    summary: 'Read who may use and who may manage an agent',
    description: 'For who manages the agent. The ETag is its version, for If-Match.',
    success: { status: 200, description: 'Who may do what with it.', data: AccessShape },
    errors: ['FORBIDDEN', 'AGENT_NOT_FOUND'],
    async answer({ clients, call, param }) {
      const known = await clients.agents.getAgentAccess({ agentId: param('agent_id') }, call);
      return ok(shownAccess(known), etag(known.version));
    },
  }),

  route({
    method: 'PUT',
    path: PATH,
    operationId: 'setAgentAccess',
    tag: 'Agents',
    summary: 'Set who may use and who may manage an agent',
    description:
      'For who manages the agent. Replaces all of it, and holds from the answer on. Whoever has created the agent keeps ' +
      'managing it. Conversations that have begun stay with who has begun them. With If-Match it happens only to that version ' +
      'of the access.',
    headers: ['If-Match'],
    body: AccessChange,
    example: { visibility: 'allowlist', managers: [], users: [], groups: ['support'] },
    success: { status: 200, description: 'Who may do what with it now.', data: AccessShape },
    errors: ['FORBIDDEN', 'AGENT_NOT_FOUND', 'VERSION_CONFLICT'],
    async answer({ clients, call, param, body, request }) {
      const wanted = { agentId: param('agent_id'), access: body, ifVersion: ifMatch(request.raw) };
      const known = await clients.agents.setAgentAccess(wanted, call);
      return ok(shownAccess(known), etag(known.version));
    },
  }),
];
