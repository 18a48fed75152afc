import type { ErrorCode } from '../../../lib/error-codes.ts';
import type { AssignmentTarget } from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { ok } from '../../envelope.ts';
import { ifMatch } from '../../input/headers.ts';
import { type Exchange, route } from '../../route.ts';
import { AssignmentsBody, AssignmentsShape, serializeAssignments } from '../../schemas/vaults/vaults.ts';
import { etag } from '../etag.ts';

interface TargetRoute {
  path: string;
  resource: string;
  name: string;
  missing: ErrorCode;
  targetOf(exchange: Pick<Exchange, 'param'>): AssignmentTarget;
  /** Managers need no scope `admin` to read. */
  isReadByManagers?: true;
}

const TARGETS: TargetRoute[] = [
  {
    path: '/admin/agents/{agent_id}/vaults',
    resource: 'an agent',
    name: 'AgentVaults',
    missing: 'AGENT_NOT_FOUND',
    targetOf: ({ param }) => ({ of: { $case: 'agentId', value: param('agent_id') } }),
    isReadByManagers: true,
  },
  {
    path: '/admin/assistants/{assistant_id}/vaults',
    resource: 'an assistant',
    name: 'AssistantVaults',
    missing: 'ASSISTANT_NOT_FOUND',
    targetOf: ({ param }) => ({ of: { $case: 'assistantId', value: param('assistant_id') } }),
  },
];

export const vaultAssignmentRoutes = TARGETS.flatMap(
  ({ path, resource, name, missing, targetOf, isReadByManagers }) => [
    route({
      method: 'GET',
      path,
      ...(isReadByManagers && { access: 'read' as const }),
      operationId: `get${name}`,
      tag: 'Vaults',
      summary: `Get the vaults of ${resource}`,
      description: `Requires manage access or an administrator. The ETag is the \`revision\` of the assignments, for \`If-Match\`.`,
      headers: ['If-Match'],
      success: { status: 200, description: 'The vaults.', data: AssignmentsShape, headers: ['ETag'] },
      errors: ['FORBIDDEN', missing],
      async answer(exchange) {
        const { clients, call } = exchange;
        const found = await clients.vaults.getAssignments({ target: targetOf(exchange) }, call);
        return ok(serializeAssignments(found), etag(found.revision));
      },
    }),

    route({
      method: 'PUT',
      path,
      operationId: `set${name}`,
      tag: 'Vaults',
      summary: `Set the vaults of ${resource}`,
      description:
        'Requires an administrator. Replaces all assignments. With `If-Match`, the request fails if they have changed since.',
      headers: ['If-Match'],
      body: AssignmentsBody,
      example: { vault_ids: [] },
      success: { status: 200, description: 'The vaults.', data: AssignmentsShape, headers: ['ETag'] },
      errors: ['FORBIDDEN', missing, 'VAULT_NOT_FOUND'],
      async answer(exchange) {
        const { clients, call, body, request } = exchange;
        const change = {
          target: targetOf(exchange),
          vaultIds: body.vault_ids,
          ifRevisions: ifMatch(request.raw),
        };
        const changed = await clients.vaults.putAssignments(change, call);
        return ok(serializeAssignments(changed), etag(changed.revision));
      },
    }),
  ],
);
