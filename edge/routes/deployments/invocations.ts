import { list } from '../../envelope.ts';
import { route } from '../../route.ts';
import { closed, pageRequest, paging } from '../../schemas/common.ts';
import { InvocationShape, serializeInvocation } from '../../schemas/deployments/webhooks.ts';
import { deploymentRef, ONE } from './address.ts';

export const invocationRoutes = [
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
