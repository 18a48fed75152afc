import type { Call } from '../../../lib/grpc/contract.ts';
import { isId, withPrefix } from '../../../lib/ids.ts';
import { InboundEvent } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { hasReplies } from '../domain/channels/addressee.ts';
import type { DeliveryWorkStore, LockedDelivery } from '../store/delivery-work.ts';
import type { StoredPost } from '../store/post-rows.ts';
import type { Channel } from './channel-reader.ts';

interface ReplyTargetsContext {
  deliveries: Pick<DeliveryWorkStore, 'findAll'>;
}

/** The product's ids of a message and of its place. */
export interface ReplyTarget {
  messageId: string;
  place: string;
}

export type ReplyTargets = ReturnType<typeof createReplyTargets>;

/**
 * Returns the function that finds the messages to which new posts reply, by post. A turn has the 26 characters of the delivery
 * that began it. In direct messages nothing is replied to: there is one other person, who wrote last.
 */
export function createReplyTargets({ deliveries }: ReplyTargetsContext) {
  return async (
    channel: Pick<Channel, 'provider'>,
    posts: readonly StoredPost[],
    { trace }: Pick<Call, 'trace'>,
  ): Promise<ReadonlyMap<string, ReplyTarget>> => {
    const created = posts.filter(
      ({ state, externalId, turnId }) => state === 'posting' && externalId === null && isId('trn', turnId),
    );
    if (created.length === 0 || !hasReplies(channel.provider)) return NONE;
    const causes = created.map(({ turnId }) => withPrefix('dlv', turnId));
    const found = await deliveries.findAll([...new Set(causes)], { trace });
    const byId = new Map(found.map((delivery) => [delivery.deliveryId, delivery]));
    return new Map(
      created.flatMap((post) => {
        const target = targetOf(post, byId.get(withPrefix('dlv', post.turnId)));
        return target === undefined ? [] : [[post.postId, target] as const];
      }),
    );
  };
}

const NONE: ReadonlyMap<string, ReplyTarget> = new Map();

function targetOf(
  { deploymentId, conversation }: StoredPost,
  delivery: LockedDelivery | undefined,
): ReplyTarget | undefined {
  if (!delivery || delivery.payload === null) return undefined;
  if (delivery.deploymentId !== deploymentId || delivery.conversation !== conversation) return undefined;
  const { place, messageId } = InboundEvent.decode(delivery.payload);
  return place?.isGroup && messageId !== '' ? { messageId, place: place.place } : undefined;
}
