import { Type } from 'typebox';
import type { Deployment } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { list, ok } from '../../envelope.ts';
import { idempotencyKey, ifMatch } from '../../input/headers.ts';
import { type Exchange, route } from '../../route.ts';
import {
  closed,
  deleted,
  id,
  metadataPatch,
  optional,
  pageRequest,
  paging,
  search,
} from '../../schemas/common.ts';
import {
  CreatedDeploymentShape,
  DEPLOYMENT_TYPES,
  DeploymentCreationBody,
  DeploymentShape,
  serializeDeployment,
} from '../../schemas/deployments/deployments.ts';
import { DeploymentPatchBody, scheduleChangeOf } from '../../schemas/deployments/schedules.ts';
import { etag } from '../etag.ts';
import { replayed } from '../replayed.ts';
import { deploymentRef, OF_AGENT, ONE } from './address.ts';
import { channelChangeOf, settingsOf, sharedSecretIn } from './bodies.ts';

const filters = {
  q: search("Matches a part of the name, of the agent's name, of the type or of the id."),
  type: optional(Type.Enum([...DEPLOYMENT_TYPES], { description: 'Only deployments of this type.' })),
  status: optional(Type.Enum(['enabled', 'disabled'], { description: 'Only deployments with this status.' })),
};

interface Filters {
  limit?: number;
  cursor?: string;
  q?: string;
  type?: string;
  status?: string;
}

async function listDeployments({ clients, call }: Exchange, query: Filters, agentId: string) {
  const { deployments, page } = await clients.deployments.listDeployments(
    {
      page: pageRequest(query),
      agentId,
      q: query.q ?? '',
      type: query.type ?? '',
      status: query.status ?? '',
    },
    call,
  );
  return list(deployments.map(serializeDeployment), page);
}

/** Webhooks have no ETag: they cannot be changed. */
function etagOf(deployment: Deployment | undefined) {
  return deployment?.type === 'webhook' ? {} : etag(deployment?.revision);
}

export const deploymentRoutes = [
  route({
    method: 'POST',
    path: OF_AGENT,
    access: 'write',
    operationId: 'createDeployment',
    tag: 'Deployments',
    summary: 'Create a deployment',
    description:
      'Creates a webhook, a schedule or a channel. The response to a webhook contains the trigger URL and the shared secret; ' +
      'the one to a channel with the provider `http` contains its secret. A secret is returned only once. A webhook cannot be ' +
      'changed later.',
    headers: ['Idempotency-Key'],
    body: DeploymentCreationBody,
    example: { type: 'webhook', prompt_prefix: 'A build has finished:' },
    success: {
      status: 201,
      description: 'The new deployment.',
      data: CreatedDeploymentShape,
      headers: ['ETag'],
      secret: true,
    },
    errors: ['AGENT_NOT_FOUND', 'INVALID_SCHEDULE', 'SESSION_NOT_FOUND', 'RESOURCE_IN_USE', 'QUOTA_EXCEEDED'],
    async answer({ clients, sealer, call, param, body, request }) {
      const response = await clients.deployments.createDeployment(
        {
          agentId: param('agent_id'),
          idempotencyKey: idempotencyKey(request.raw),
          ...settingsOf(body, sealer, request.id),
        },
        call,
      );
      const deployment = serializeDeployment(response.deployment);
      const headers = { ...etagOf(response.deployment), ...replayed(response.replayed) };
      if (body.type === 'schedule') return ok(deployment, headers);
      return ok({ ...deployment, shared_secret: sharedSecretIn(response, sealer, request.id) }, headers);
    },
  }),

  route({
    method: 'GET',
    path: OF_AGENT,
    access: 'read',
    operationId: 'listAgentDeployments',
    tag: 'Deployments',
    summary: 'List the deployments of an agent',
    description: 'Returns deployments, newest first.',
    query: closed({ ...paging, ...filters }),
    success: { status: 200, description: 'A page of deployments.', data: DeploymentShape, list: true },
    errors: ['AGENT_NOT_FOUND', 'INVALID_CURSOR'],
    answer: (exchange) => listDeployments(exchange, exchange.query, exchange.param('agent_id')),
  }),

  route({
    method: 'GET',
    path: '/admin/deployments',
    access: 'read',
    operationId: 'listDeployments',
    tag: 'Deployments',
    summary: 'List the deployments of your agents',
    description: 'Returns deployments, newest first.',
    query: closed({ ...paging, ...filters }),
    success: { status: 200, description: 'A page of deployments.', data: DeploymentShape, list: true },
    errors: ['INVALID_CURSOR'],
    answer: (exchange) => listDeployments(exchange, exchange.query, ''),
  }),

  route({
    method: 'GET',
    path: ONE,
    access: 'read',
    operationId: 'getDeployment',
    tag: 'Deployments',
    summary: 'Get a deployment',
    description: 'Returns the deployment without its secret.',
    headers: ['If-Match'],
    success: { status: 200, description: 'The deployment.', data: DeploymentShape, headers: ['ETag'] },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      const { deployment } = await exchange.clients.deployments.getDeployment(
        deploymentRef(exchange),
        exchange.call,
      );
      return ok(serializeDeployment(deployment), etagOf(deployment));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    access: 'write',
    operationId: 'updateDeployment',
    tag: 'Deployments',
    summary: 'Update a deployment',
    description:
      'Changes a schedule or a channel. Omitted members stay unchanged. Runs that have started keep their prompt. Webhooks are immutable ' +
      'and fail with DEPLOYMENT_IMMUTABLE: create a new one, switch the sender over and delete the old one. With `If-Match`, ' +
      'the request fails if the deployment has changed since.',
    headers: ['If-Match'],
    body: DeploymentPatchBody,
    example: { cron: '0 8 * * *', timezone: 'Europe/Berlin' },
    success: {
      status: 200,
      description: 'The updated deployment.',
      data: DeploymentShape,
      headers: ['ETag'],
    },
    errors: [
      ...(['DEPLOYMENT_NOT_FOUND', 'DEPLOYMENT_IMMUTABLE', 'INVALID_SCHEDULE'] as const),
      ...(['SESSION_NOT_FOUND', 'RESOURCE_IN_USE'] as const),
    ],
    async answer(exchange) {
      const { body, clients, sealer, call, request } = exchange;
      const { deployment } = await clients.deployments.updateDeployment(
        {
          ...deploymentRef(exchange),
          // Only webhooks have a prompt_prefix, so it names another type.
          type: body.type ?? ('prompt_prefix' in body ? 'webhook' : undefined),
          name: body.name,
          metadata: metadataPatch(body.metadata),
          schedule: scheduleChangeOf(body),
          channel: channelChangeOf(body, sealer, request.id),
          ifRevisions: ifMatch(request.raw),
        },
        call,
      );
      return ok(serializeDeployment(deployment), etagOf(deployment));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    access: 'write',
    operationId: 'deleteDeployment',
    tag: 'Deployments',
    summary: 'Delete a deployment',
    description:
      'The trigger URL of a webhook stops accepting requests immediately. A schedule is deleted with its runs. Sessions that ' +
      'the deployment started remain. With `If-Match`, the request fails if a schedule has changed since.',
    headers: ['If-Match'],
    success: {
      status: 200,
      description: 'The deployment was deleted.',
      data: deleted('deployment', id('dep', 'the deployment')),
    },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      const ifRevisions = ifMatch(exchange.request.raw);
      await exchange.clients.deployments.deleteDeployment(
        { ...deploymentRef(exchange), ifRevisions },
        exchange.call,
      );
      return ok({ deployment_id: exchange.param('deployment_id'), deleted: true });
    },
  }),

  route({
    method: 'POST',
    path: `${ONE}/enable`,
    access: 'write',
    operationId: 'enableDeployment',
    tag: 'Deployments',
    summary: 'Enable a deployment',
    description:
      'The trigger URL and the secret of a webhook work again. A schedule goes on with its next time. A channel connects with its product.',
    success: { status: 200, description: 'The updated deployment.', data: DeploymentShape },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      const { deployment } = await exchange.clients.deployments.enableDeployment(
        deploymentRef(exchange),
        exchange.call,
      );
      return ok(serializeDeployment(deployment));
    },
  }),

  route({
    method: 'POST',
    path: `${ONE}/disable`,
    access: 'write',
    operationId: 'disableDeployment',
    tag: 'Deployments',
    summary: 'Disable a deployment',
    description:
      'The trigger URL of a webhook returns 404 immediately. Times of a schedule pass without a run, and its queued runs are ' +
      'cancelled. A channel is removed from its product. The deployment can be enabled again.',
    success: { status: 200, description: 'The updated deployment.', data: DeploymentShape },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      const { deployment } = await exchange.clients.deployments.disableDeployment(
        deploymentRef(exchange),
        exchange.call,
      );
      return ok(serializeDeployment(deployment));
    },
  }),
];
