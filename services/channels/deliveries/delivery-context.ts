import { parseTraceparent } from '../../../lib/trace.ts';
import type { DeliveryWork, InboundEvent } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { OpenChannel } from '../work/channel-clients.ts';
import { asOwner, type WorkerContext } from '../work/worker-context.ts';

/** A delivery with its event and channel. */
export interface OpenDelivery {
  work: DeliveryWork;
  event: InboundEvent;
  channel: OpenChannel;
  signal: AbortSignal;
}

export type DeliveryContext = Pick<WorkerContext, 'deployments' | 'sessions' | 'files' | 'fileMaxBytes'>;

/** The options of calls on behalf of the owner of the session, in the trace of the request that brought the event. */
export function ownerCall({ work: { ownerId, traceparent }, signal }: OpenDelivery) {
  return { ...asOwner(ownerId, signal), trace: parseTraceparent(traceparent) };
}

export function actorOf({ deploymentId, deliveryId }: DeliveryWork) {
  return { type: 'channel', deploymentId, runId: '', deliveryId };
}
