import type { Bus } from '../../../lib/bus/bus.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Ids } from '../../../lib/ids.ts';
import { InboundEvent } from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { addresseeOf, conversationOf } from '../domain/channels/addressee.ts';
import { originalPlace } from '../domain/channels/moved-places.ts';
import type { NewDelivery, StoredDelivery } from '../store/deliveries.ts';
import type { Channel } from './channel-reader.ts';
import type { DeliveryCounter } from './delivery-metrics.ts';
import type { EventLog } from './event-log.ts';
import type { ParsedEvent } from './products/product.ts';

/** The request that brought an event. */
export interface EventOrigin {
  size: number;
  /** Empty for events of a connection. */
  sourceAddress: string;
  traceparent: string;
}

/** An event that is not stored for the agent, and why. */
export interface UnusedReason {
  result: 'ignored' | 'refused';
  reason: string;
  event?: InboundEvent | undefined;
}

/** An event that can be for the agent, or one that is not. */
export type Admission = { delivery: NewDelivery } | { unused: UnusedReason };

interface InboxContext {
  events: EventLog;
  count: DeliveryCounter;
  bus: Bus;
  clock: Clock;
  ids: Ids;
}

export type Inbox = ReturnType<typeof createInbox>;

/** Decides which events of a channel are for the agent, and lists the others with their reasons. */
export function createInbox({ events, count, bus, clock, ids }: InboxContext) {
  function logUnused(channel: Channel, origin: EventOrigin, { result, reason, event }: UnusedReason): void {
    const { deploymentId, provider } = channel;
    count(provider, result);
    events.add({
      ...{ deploymentId, result, reason, ...origin },
      kind: event?.kind ?? 'other',
      conversation: event ? keyOf(channel, event) : '',
      senderTeam: event?.team ?? '',
      senderId: event?.senderId ?? '',
      senderName: event?.senderName ?? '',
    });
  }

  return {
    logUnused,

    admit(channel: Channel, parsed: ParsedEvent, origin: EventOrigin): Admission {
      if (parsed.outcome !== 'event') {
        const event = 'event' in parsed ? parsed.event : undefined;
        return { unused: { result: parsed.outcome, reason: parsed.reason, event } };
      }
      const { event } = parsed;
      const { dedupeKey, kind, orderKey, team, senderId, senderName, botMessageId } = event;
      const addressee = addresseeOf({ ...event, place: placeOf(event) }, channel.config, channel.provider);
      if (addressee === 'others') return { unused: { result: 'ignored', reason: 'not_addressed', event } };
      const delivery = {
        ...{ deliveryId: ids('dlv'), deploymentId: channel.deploymentId, dedupeKey, kind, orderKey },
        conversation: keyOf(channel, event),
        botMessageId,
        isUrgent: kind !== 'message',
        payload: InboundEvent.encode(event).finish(),
        ...{ senderTeam: team, senderId, senderName, ...origin },
        createdAt: clock.now(),
        onlyIfKnown: addressee === 'if_known',
      };
      return { delivery };
    },

    /** Counts and announces what the database has decided about a delivery. */
    note(channel: Channel, delivery: NewDelivery, stored: StoredDelivery): void {
      if (stored.outcome === 'stored') {
        count(channel.provider, 'pending');
        bus.publish('channels.work', channel.deploymentId);
      } else if (stored.outcome !== 'gone') {
        const isDuplicate = stored.outcome === 'duplicate';
        count(channel.provider, isDuplicate ? 'duplicate' : 'ignored');
        events.add({
          ...delivery,
          result: isDuplicate ? 'duplicate' : 'ignored',
          reason: isDuplicate ? '' : 'not_addressed',
        });
      }
    },
  };
}

function placeOf({ place }: InboundEvent) {
  return place ?? { place: '', thread: '', isGroup: false };
}

function keyOf({ config, provider, movedPlaces }: Channel, event: InboundEvent): string {
  const { place, ...more } = placeOf(event);
  const original = { ...more, place: originalPlace(movedPlaces, place) };
  return conversationOf({ place: original, senderId: event.senderId }, config, provider);
}
