import type { Call } from '../../../lib/grpc/contract.ts';
import { type DeliveryWork, InboundEvent } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import type { Admission } from '../admission.ts';
import { mayApprove, refuseSender, type SenderUser } from '../domain/channels/access.ts';
import { currentPlace, originalPlace } from '../domain/channels/moved-places.ts';
import type { ClaimedDelivery, DeliveryWorkStore } from '../store/delivery-work.ts';
import type { AccountUsers } from './accounts.ts';
import type { Channel } from './channel-reader.ts';
import type { ChannelUsers } from './users.ts';

/** A claimed delivery with its event. The channel is deleted when it is undefined. */
interface OpenedDelivery {
  delivery: ClaimedDelivery;
  event: InboundEvent;
  channel: Channel;
}

interface DeliveryClaimsContext {
  deliveries: Pick<DeliveryWorkStore, 'claim' | 'setUsers' | 'postpone'>;
  accounts: AccountUsers;
  users: Pick<ChannelUsers, 'find' | 'levelOf'>;
  admission: Pick<Admission, 'decideStart'>;
  /** Called when the access of a sender cannot be decided now. */
  warn: (error: unknown) => void;
}

type WorkCall = Pick<Call, 'trace' | 'requestId'>;

export type DeliveryClaims = ReturnType<typeof createDeliveryClaims>;

/** Claims deliveries and decides what their senders may do at this moment. */
export function createDeliveryClaims(context: DeliveryClaimsContext) {
  const { deliveries, accounts, users, admission, warn } = context;

  async function senderOf(userId: string, agentId: string, call: WorkCall): Promise<SenderUser> {
    if (userId === '') return { kind: 'none' };
    const user = await users.find(userId, call);
    if (!user?.isEnabled) return { kind: 'disabled' };
    return { kind: 'enabled', userId, level: await users.levelOf(agentId, user, call) };
  }

  async function workOf(
    { delivery, event, channel }: OpenedDelivery,
    userId: string,
    call: WorkCall,
  ): Promise<DeliveryWork> {
    const { config, agentId, createdBy } = channel;
    const { isExternal, senderId: externalId, place } = event;
    const user = await senderOf(userId, agentId, call);
    const sender = { externalId, places: placesOf(place?.place ?? '', channel), isExternal };
    const refusal = refuseSender(config, sender, user);
    const linkedUserId = user.kind === 'enabled' ? user.userId : '';
    const sessionId = sessionOf(delivery, event, channel);
    const newOwnerId = config.owner === 'creator' ? createdBy : linkedUserId;
    const ownerId = sessionId === '' ? newOwnerId : (delivery.sessionOwnerId ?? newOwnerId);
    const start =
      refusal || ownerId === '' ? undefined : await admission.decideStart({ ownerId, agentId }, call);
    const obstacle = start && 'obstacle' in start ? start.obstacle : '';
    const approver = { userId: linkedUserId, ownerId, isInitiator: false };
    return {
      deliveryId: delivery.deliveryId,
      deploymentId: delivery.deploymentId,
      fence: delivery.fence,
      attempts: delivery.attempts,
      conversation: delivery.conversation,
      place,
      event,
      userId: linkedUserId,
      accessRefusal: refusal ?? obstacle,
      ownerId,
      sessionId,
      agentVersion: start && 'agentVersion' in start ? start.agentVersion : 0,
      isApprover: user.kind === 'enabled' && mayApprove(config, { ...approver, level: user.level }),
      traceparent: delivery.traceparent ?? '',
    };
  }

  /** A delivery whose sender cannot be checked now is claimed again later. */
  async function checked(opened: OpenedDelivery, userId: string, now: Date, call: WorkCall) {
    try {
      return await workOf(opened, userId, call);
    } catch (error) {
      warn(error);
      await deliveries.postpone(opened.delivery, now, call);
      return undefined;
    }
  }

  return {
    claim: deliveries.claim,
    postpone: deliveries.postpone,

    /** Returns the work for the claimed deliveries of these channels. */
    async works(
      claimed: readonly ClaimedDelivery[],
      channels: ReadonlyMap<string, Channel>,
      now: Date,
      call: WorkCall,
    ): Promise<DeliveryWork[]> {
      const opened = claimed.flatMap((delivery): OpenedDelivery[] => {
        const channel = channels.get(delivery.deploymentId);
        return channel ? [{ delivery, channel, event: InboundEvent.decode(delivery.payload) }] : [];
      });
      const userIds = await accounts.of(opened, call);
      const works = await Promise.all(
        opened.map((one, index) => checked(one, userIds[index] ?? '', now, call)),
      );
      const ready = works.filter((work) => work !== undefined);
      await deliveries.setUsers(
        ready.filter(({ userId }) => userId !== ''),
        call,
      );
      return ready;
    },
  };
}

/** A list may name a place by its present or its earlier id. */
function placesOf(place: string, { movedPlaces }: Channel): string[] {
  return [place, originalPlace(movedPlaces, place), currentPlace(movedPlaces, place)];
}

/** A message after a long silence starts a new session. */
function sessionOf(
  { sessionId, lastActiveAt, createdAt }: ClaimedDelivery,
  { kind }: InboundEvent,
  { config }: Channel,
): string {
  const idleSeconds = config.newSessionAfterIdleSeconds;
  if (sessionId === null || kind !== 'message' || idleSeconds === null || lastActiveAt === null)
    return sessionId ?? '';
  const isIdle = createdAt.getTime() - lastActiveAt.getTime() > idleSeconds * 1000;
  return isIdle ? '' : sessionId;
}
