import { Type } from 'typebox';
import { list } from '../../envelope.ts';
import { route } from '../../route.ts';
import { closed, optional, pageRequest, paging } from '../../schemas/common.ts';
import {
  ConversationShape,
  DELIVERY_RESULTS,
  DeliveryShape,
  serializeConversation,
  serializeDelivery,
} from '../../schemas/deployments/deliveries.ts';
import { deploymentRef, OF_CHANNEL, ONE } from './address.ts';

const filters = {
  result: optional(Type.Enum([...DELIVERY_RESULTS], { description: 'Only deliveries with this result.' })),
};

export const deliveryRoutes = [
  route({
    method: 'GET',
    path: `${ONE}/deliveries`,
    access: 'read',
    operationId: 'listDeliveries',
    tag: 'Deployments',
    summary: 'List the deliveries of a channel',
    description:
      'Returns events of the product, newest first, with the reason of each that was refused or ignored. Entries are kept for ' +
      '`SERVICE_RUN_HISTORY_DAYS`.',
    query: closed({ ...paging, ...filters }),
    success: { status: 200, description: 'A page of deliveries.', data: DeliveryShape, list: true },
    errors: [...OF_CHANNEL, 'INVALID_CURSOR'],
    async answer(exchange) {
      const { query, clients, call } = exchange;
      const { deliveries, page } = await clients.deployments.listDeliveries(
        { ...deploymentRef(exchange), page: pageRequest(query), result: query.result ?? '' },
        call,
      );
      return list(deliveries.map(serializeDelivery), page);
    },
  }),

  route({
    method: 'GET',
    path: `${ONE}/conversations`,
    access: 'read',
    operationId: 'listChannelConversations',
    tag: 'Deployments',
    summary: 'List the conversations of a channel',
    description: 'Returns conversations by their last message, newest first, with their sessions.',
    query: closed(paging),
    success: { status: 200, description: 'A page of conversations.', data: ConversationShape, list: true },
    errors: [...OF_CHANNEL, 'INVALID_CURSOR'],
    async answer(exchange) {
      const { query, clients, call } = exchange;
      const { conversations, page } = await clients.deployments.listConversations(
        { ...deploymentRef(exchange), page: pageRequest(query) },
        call,
      );
      return list(conversations.map(serializeConversation), page);
    },
  }),
];
