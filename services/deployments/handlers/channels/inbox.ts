import { callerOf } from '../../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../../lib/grpc/contract.ts';
import type { Delivery } from '../../../../proto/gen/ahs/deployments/v1/channels.ts';
import type { DeploymentsServiceDefinition } from '../../../../proto/gen/ahs/deployments/v1/deployments.ts';
import { checkedPage } from '../../domain/deployments.ts';
import type { ListedDelivery } from '../../store/deliveries.ts';
import type { DeploymentsHandlerContext } from '../context.ts';

type Methods = Pick<
  Handlers<DeploymentsServiceDefinition>,
  'receiveCallback' | 'acceptEvents' | 'listDeliveries'
>;

/** Events of products. */
export function inboxHandlers({ inbox, deliveries, access }: DeploymentsHandlerContext): Methods {
  return {
    receiveCallback: inbox.receiveCallback,
    acceptEvents: inbox.acceptEvents,

    async listDeliveries(request, call) {
      const { limit, cursor } = checkedPage(request.page);
      const { deployment, options } = await access.viewChannel(request, call);
      const { deploymentId } = deployment;
      const page = { caller: callerOf(call).userId, deploymentId, result: request.result, limit, cursor };
      const { rows, nextCursor } = await deliveries.list(page, options);
      return { deliveries: rows.map(deliveryMessage), page: { nextCursor } };
    },
  };
}

function deliveryMessage({ senderId, senderName, userId, ...row }: ListedDelivery): Delivery {
  const sender = senderId === null ? undefined : { externalId: senderId, name: senderName, userId };
  return { ...row, sender };
}
