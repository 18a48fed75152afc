import type { Clock } from '../../../lib/clock.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { PeerSealer } from '../../../lib/grpc/sealed-for-peer.ts';
import { traceparent } from '../../../lib/trace.ts';
import type {
  AcceptEventsRequest,
  AcceptEventsResponse,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { DeploymentsServiceDefinition } from '../../../proto/gen/ahs/deployments/v1/deployments.ts';
import type { ChannelIdentity, Provider } from '../domain/channels/channel.ts';
import { channelNotReady } from '../domain/channels/connection.ts';
import { withMoves } from '../domain/channels/moved-places.ts';
import type { DeliveryStore, NewDelivery } from '../store/deliveries.ts';
import type { PostStore } from '../store/posts.ts';
import type { ChannelReader } from './channel-reader.ts';
import type { ChannelSealing } from './channel-sealing.ts';
import type { Inbox } from './inbox.ts';
import type { MovePlaces } from './place-moves.ts';
import { parseObject } from './products/json-members.ts';
import type { ParsedEvent } from './products/product.ts';
import { productOf } from './products/products.ts';

interface AcceptEventsContext {
  channels: Pick<ChannelReader, 'find'>;
  deliveries: Pick<DeliveryStore, 'accept'>;
  inbox: Inbox;
  movePlaces: MovePlaces;
  posts: Pick<PostStore, 'ownIds'>;
  sealer: PeerSealer;
  sealing: Pick<ChannelSealing, 'sealResume'>;
  clock: Clock;
}

/** Commits the events of a connection together with its new resume state. */
export function createAcceptEvents(context: AcceptEventsContext) {
  const { channels, deliveries, inbox, movePlaces, posts, sealer, sealing, clock } = context;

  function sealedResume({ deploymentId, resumeState }: AcceptEventsRequest, call: Call): string | null {
    if (!resumeState) return null;
    const sealed = { contract: DeploymentsServiceDefinition, method: 'acceptEvents', ...call } as const;
    return sealing.sealResume(sealer.openBytes(resumeState, sealed), deploymentId);
  }

  return async (request: AcceptEventsRequest, call: Call): Promise<AcceptEventsResponse> => {
    const { deploymentId, fence } = request;
    const channel = await channels.find(deploymentId, call);
    if (channel?.status !== 'enabled')
      throw refuse('LEASE_LOST', 'The channel was disabled or deleted, so its connection has ended.');
    const resume = sealedResume(request, call);
    const identity = request.identity ?? channel.identity;
    // The worker does not acknowledge the events, so the product sends them again.
    if (!identity) throw channelNotReady();
    const parsed = request.eventsJson.map((json) => ({
      json,
      event: parse(channel.provider, identity, json),
    }));
    const moves = parsed.flatMap(({ event }) => ('move' in event && event.move ? [event.move] : []));
    await movePlaces(deploymentId, moves, call);
    const deleted = parsed.flatMap(({ event }) =>
      'deletedMessage' in event ? (event.deletedMessage ?? []) : [],
    );
    const own = await posts.ownIds(deploymentId, deleted, { trace: call.trace });
    const isOwn = (event: ParsedEvent) =>
      'deletedMessage' in event && event.deletedMessage !== undefined && own.has(event.deletedMessage);
    const moved = { ...channel, movedPlaces: withMoves(channel.movedPlaces, moves) };
    const admissions = parsed
      .filter(({ event }) => !isOwn(event))
      .map(({ json, event }) => {
        const size = Buffer.byteLength(json);
        const origin = { size, sourceAddress: '', traceparent: traceparent(call.trace) };
        return { origin, admission: inbox.admit(moved, event, origin) };
      });
    const admitted = admissions.flatMap(({ admission }) =>
      'delivery' in admission ? [admission.delivery] : [],
    );
    const { first, repeated } = withoutRepetitions(admitted);
    const arrivedAt = request.eventsJson.length > 0 ? clock.now() : null;
    const accepted = { deploymentId, fence, arrivedAt, sealedResume: resume, deliveries: first };
    const stored = await deliveries.accept(accepted, call);
    const results = new Map(first.map(({ dedupeKey }, index) => [dedupeKey, stored[index]]));
    for (const delivery of first) inbox.note(channel, delivery, results.get(delivery.dedupeKey) ?? GONE);
    for (const delivery of repeated) {
      const result = results.get(delivery.dedupeKey) ?? GONE;
      inbox.note(
        channel,
        delivery,
        result.outcome === 'stored' ? { ...result, outcome: 'duplicate' } : result,
      );
    }
    for (const { origin, admission } of admissions)
      if ('unused' in admission) inbox.logUnused(channel, origin, admission.unused);
    return {};
  };
}

const GONE = { outcome: 'gone' } as const;

/** An event of another form must not end the connection. */
function parse(provider: Provider, identity: ChannelIdentity, json: string): ParsedEvent {
  const event = parseObject(json);
  if (event === undefined) return { outcome: 'ignored', reason: 'malformed' };
  try {
    return productOf(provider).parse(event, identity);
  } catch (error) {
    if (error instanceof Refusal) return { outcome: 'ignored', reason: 'malformed' };
    throw error;
  }
}

/** Slack sends two events for one mention. Both can come in one call. */
function withoutRepetitions(deliveries: readonly NewDelivery[]) {
  const first = new Map<string, NewDelivery>();
  const repeated: NewDelivery[] = [];
  for (const delivery of deliveries) {
    if (first.has(delivery.dedupeKey)) repeated.push(delivery);
    else first.set(delivery.dedupeKey, delivery);
  }
  return { first: [...first.values()], repeated };
}
