import { Type } from 'typebox';
import { list, ok } from '../envelope.ts';
import { idempotencyKey } from '../input/headers.ts';
import { type Exchange, route } from '../route.ts';
import { AnyObject, closed, deleted, id, optional, pageRequest, paging, search } from '../schemas/common.ts';
import {
  DeploymentCreation,
  DeploymentShape,
  InvocationShape,
  NewDeploymentShape,
  shownDeployment,
  shownInvocation,
} from '../schemas/deployments.ts';
import { replayed } from './replayed.ts';

const OF_AGENT = '/admin/agents/{agent_id}/deployments';
const ONE = `${OF_AGENT}/{deployment_id}`;

const filters = {
  q: search("A part of the agent's name, of the type or of the id."),
  type: optional(Type.Enum(['webhook'])),
  status: optional(Type.Enum(['enabled', 'disabled'])),
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
  return list(deployments.map(shownDeployment), page);
}

const named = ({ param }: Exchange) => ({ agentId: param('agent_id'), deploymentId: param('deployment_id') });

export const deploymentRoutes = [
  route({
    method: 'POST',
    path: OF_AGENT,
    access: 'write',
    operationId: 'createDeployment',
    tag: 'Deployments',
    summary: 'Create a webhook',
    description:
      'The answer holds the trigger URL and, this one time, the shared secret. Nothing of a webhook can be changed later.',
    headers: ['Idempotency-Key'],
    body: DeploymentCreation,
    example: { type: 'webhook', prompt_prefix: 'A build has finished:' },
    success: { status: 201, description: 'The new webhook.', data: NewDeploymentShape },
    errors: ['AGENT_NOT_FOUND'],
    async answer({ clients, call, param, body, request }) {
      const {
        deployment,
        sharedSecret,
        replayed: again,
      } = await clients.deployments.createDeployment(
        {
          agentId: param('agent_id'),
          type: body.type,
          promptPrefix: body.prompt_prefix ?? undefined,
          idempotencyKey: idempotencyKey(request.raw),
        },
        call,
      );
      return ok({ ...shownDeployment(deployment), shared_secret: sharedSecret ?? null }, replayed(again));
    },
  }),

  route({
    method: 'GET',
    path: OF_AGENT,
    access: 'read',
    operationId: 'listAgentDeployments',
    tag: 'Deployments',
    summary: 'List the deployments of an agent',
    description: 'Newest first.',
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
    summary: 'List the deployments of all your agents',
    description: 'Newest first.',
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
    summary: 'Read a deployment',
    description: 'Everything but its secret.',
    success: { status: 200, description: 'The deployment.', data: DeploymentShape },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      const { deployment } = await exchange.clients.deployments.getDeployment(named(exchange), exchange.call);
      return ok(shownDeployment(deployment));
    },
  }),

  route({
    method: 'PATCH',
    path: ONE,
    access: 'write',
    operationId: 'updateDeployment',
    tag: 'Deployments',
    summary: 'Change a deployment',
    description:
      'A webhook cannot be changed, and this answers 409. To change one, create a replacement, switch the sender over, and delete the old one.',
    body: AnyObject('Any change.'),
    example: { prompt_prefix: 'Other words:' },
    success: { status: 200, description: 'The deployment as it is now.', data: DeploymentShape },
    errors: ['DEPLOYMENT_NOT_FOUND', 'DEPLOYMENT_IMMUTABLE'],
    async answer(exchange) {
      const { deployment } = await exchange.clients.deployments.updateDeployment(
        named(exchange),
        exchange.call,
      );
      return ok(shownDeployment(deployment));
    },
  }),

  route({
    method: 'DELETE',
    path: ONE,
    access: 'write',
    operationId: 'deleteDeployment',
    tag: 'Deployments',
    summary: 'Delete a deployment',
    description: 'Its URL accepts nothing from the moment of the answer. Sessions it has started remain.',
    success: {
      status: 200,
      description: 'It is gone.',
      data: deleted('deployment', id('dep', 'the deployment')),
    },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      await exchange.clients.deployments.deleteDeployment(named(exchange), exchange.call);
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
    description: 'Its URL and secret work again.',
    success: { status: 200, description: 'The deployment as it is now.', data: DeploymentShape },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      const { deployment } = await exchange.clients.deployments.enableDeployment(
        named(exchange),
        exchange.call,
      );
      return ok(shownDeployment(deployment));
    },
  }),

  route({
    method: 'POST',
    path: `${ONE}/disable`,
    access: 'write',
    operationId: 'disableDeployment',
    tag: 'Deployments',
    summary: 'Disable a deployment',
    description: 'Its URL answers 404 from the moment of the answer. The deployment is kept.',
    success: { status: 200, description: 'The deployment as it is now.', data: DeploymentShape },
    errors: ['DEPLOYMENT_NOT_FOUND'],
    async answer(exchange) {
      const { deployment } = await exchange.clients.deployments.disableDeployment(
        named(exchange),
        exchange.call,
      );
      return ok(shownDeployment(deployment));
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/invocations`,
    access: 'read',
    operationId: 'listInvocations',
    tag: 'Deployments',
    summary: 'List the calls of a deployment',
    description: 'Accepted and refused ones, newest first, with the true reason of each refusal.',
    query: closed(paging),
    success: { status: 200, description: 'A page of calls.', data: InvocationShape, list: true },
    errors: ['DEPLOYMENT_NOT_FOUND', 'INVALID_CURSOR'],
    async answer(exchange) {
      const asked = { ...named(exchange), page: pageRequest(exchange.query) };
      const { invocations, page } = await exchange.clients.deployments.listInvocations(asked, exchange.call);
      return list(invocations.map(shownInvocation), page);
    },
  }),
];
