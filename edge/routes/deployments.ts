import { Type } from 'typebox';
import { type PeerSealer, secretsIn } from '../../lib/grpc/sealed-for-peer.ts';
import {
  type CreateDeploymentResponse,
  DeploymentsServiceDefinition,
} from '../../proto/gen/ahs/deployments/v1/deployments.ts';
import { list, ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { type Exchange, route } from '../route.ts';
import { AnyObject, closed, deleted, id, optional, pageRequest, paging, search } from '../schemas/common.ts';
import {
  DeploymentCreationBody,
  DeploymentShape,
  InvocationShape,
  NewDeploymentShape,
  serializeDeployment,
  serializeInvocation,
} from '../schemas/deployments.ts';
import { replayed } from './replayed.ts';

const OF_AGENT = '/admin/agents/{agent_id}/deployments';
const ONE = `${OF_AGENT}/{deployment_id}`;

const filters = {
  q: search("Matches a part of the agent's name, of the type or of the id."),
  type: optional(Type.Enum(['webhook'], { description: 'Only deployments of this type.' })),
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

const deploymentRef = ({ param }: Exchange) => ({
  agentId: param('agent_id'),
  deploymentId: param('deployment_id'),
});

/** Returns null in a replay. The previous release of the service sends the secret in clear. */
function sharedSecretIn(
  { sealedSharedSecret, sharedSecret, replayed: isReplay }: CreateDeploymentResponse,
  sealer: PeerSealer,
  requestId: string,
): string | null {
  if (isReplay || sealedSharedSecret === undefined) return sharedSecret ?? null;
  const call = {
    contract: DeploymentsServiceDefinition,
    method: 'createDeployment',
    peer: 'deployments',
    requestId,
  } as const;
  return secretsIn(sealer.open(sealedSharedSecret, call)).shared_secret?.reveal() ?? null;
}

export const deploymentRoutes = [
  route({
    method: 'POST',
    path: OF_AGENT,
    access: 'write',
    operationId: 'createDeployment',
    tag: 'Deployments',
    summary: 'Create a webhook',
    description:
      'The response contains the trigger URL and the shared secret. The secret is returned only once. A webhook cannot be ' +
      'changed later.',
    headers: ['Idempotency-Key'],
    body: DeploymentCreationBody,
    example: { type: 'webhook', prompt_prefix: 'A build has finished:' },
    success: { status: 201, description: 'The new webhook.', data: NewDeploymentShape, secret: true },
    errors: ['AGENT_NOT_FOUND'],
    async answer({ clients, sealer, call, param, body, request }) {
      const response = await clients.deployments.createDeployment(
        {
          agentId: param('agent_id'),
          type: body.type,
          promptPrefix: body.prompt_prefix ?? undefined,
          idempotencyKey: idempotencyKey(request.raw),
          acceptsSealedSecret: true,
        },
        call,
      );
      return ok(
        {
          ...serializeDeployment(response.deployment),
          shared_secret: sharedSecretIn(response, sealer, request.id),
        },
        replayed(response.replayed),
      );
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
    success: { status: 200, description: 'The deployment.', data: DeploymentShape },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      const { deployment } = await exchange.clients.deployments.getDeployment(
        deploymentRef(exchange),
        exchange.call,
      );
      return ok(serializeDeployment(deployment));
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
      'Webhooks are immutable, so this request fails with DEPLOYMENT_IMMUTABLE. To change a webhook, create a new one, switch ' +
      'the sender over and delete the old one.',
    body: AnyObject('The requested change.'),
    example: { prompt_prefix: 'Other words:' },
    success: { status: 200, description: 'The updated deployment.', data: DeploymentShape },
    errors: ['DEPLOYMENT_NOT_FOUND', 'DEPLOYMENT_IMMUTABLE'],
    async answer(exchange) {
      const { deployment } = await exchange.clients.deployments.updateDeployment(
        deploymentRef(exchange),
        exchange.call,
      );
      return ok(serializeDeployment(deployment));
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
      'The trigger URL stops accepting requests immediately. Sessions that the deployment started remain.',
    success: {
      status: 200,
      description: 'The deployment was deleted.',
      data: deleted('deployment', id('dep', 'the deployment')),
    },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      await exchange.clients.deployments.deleteDeployment(deploymentRef(exchange), exchange.call);
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
    description: 'The trigger URL and the secret work again.',
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
    description: 'The trigger URL returns 404 immediately. The deployment can be enabled again.',
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

  route({
    method: 'GET',
    path: `${ONE}/invocations`,
    access: 'read',
    operationId: 'listInvocations',
    tag: 'Deployments',
    summary: 'List the invocations of a deployment',
    description: 'Returns accepted and refused requests, newest first, with the reason of each refusal.',
    query: closed(paging),
    success: { status: 200, description: 'A page of invocations.', data: InvocationShape, list: true },
    errors: ['DEPLOYMENT_NOT_FOUND', 'INVALID_CURSOR'],
    async answer(exchange) {
      const request = { ...deploymentRef(exchange), page: pageRequest(exchange.query) };
      const { invocations, page } = await exchange.clients.deployments.listInvocations(
        request,
        exchange.call,
      );
      return list(invocations.map(serializeInvocation), page);
    },
  }),
];
