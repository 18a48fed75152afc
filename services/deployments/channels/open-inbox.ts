import type { Handlers } from '../../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import type { ServiceContext } from '../../../lib/service.ts';
import type { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { DeliveryStore } from '../store/deliveries.ts';
import type { DeliveryRetentionStore } from '../store/delivery-retention.ts';
import type { PostStore } from '../store/posts.ts';
import { createAcceptEvents } from './accept-events.ts';
import { createCallback } from './callback.ts';
import type { ChannelReader } from './channel-reader.ts';
import type { ChannelSealing } from './channel-sealing.ts';
import { createDeliveryMetrics, type DeliveryCounter } from './delivery-metrics.ts';
import { startDeliveryRetention } from './delivery-retention.ts';
import { createEventLog } from './event-log.ts';
import { createInbox, type Inbox } from './inbox.ts';
import type { MovePlaces } from './place-moves.ts';
import type { Verification } from './verification.ts';

interface ChannelInboxContext {
  channels: ChannelReader;
  sealing: ChannelSealing;
  sealer: PeerSealer;
  verification: Verification;
  deliveries: DeliveryStore;
  movePlaces: MovePlaces;
  posts: Pick<PostStore, 'ownIds'>;
  retention: DeliveryRetentionStore;
  historyDays: number;
}

export interface ChannelInbox
  extends Pick<Handlers<DeploymentsServiceDefinition>, 'receiveCallback' | 'acceptEvents'>,
    Pick<Inbox, 'logUnused'> {
  count: DeliveryCounter;
  /** Writes the remaining rows. */
  stop(): Promise<void>;
}

/** Opens the inbox of channels: events of callbacks and connections become deliveries. */
export function openInbox(
  { clock, ids, bus, log, metrics }: ServiceContext,
  context: ChannelInboxContext,
): ChannelInbox {
  const { channels, sealing, sealer, verification, deliveries, movePlaces, posts, retention, historyDays } =
    context;
  const events = createEventLog({ clock, ids, log, write: deliveries.count });
  const count = createDeliveryMetrics(metrics);
  const inbox = createInbox({ events, count, bus, clock, ids });
  const sweep = startDeliveryRetention({ retention, clock, log, historyDays });
  return {
    count,
    logUnused: inbox.logUnused,
    receiveCallback: createCallback({ channels, deliveries, inbox, movePlaces, verification, clock }),
    acceptEvents: createAcceptEvents({
      ...{ channels, deliveries, inbox, movePlaces, posts, sealer, sealing, clock },
    }),
    async stop() {
      await Promise.all([events.stop(), sweep.stop()]);
    },
  };
}
