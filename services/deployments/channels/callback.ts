import type { Clock } from '../../../lib/clock.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import { traceparent } from '../../../lib/trace.ts';
import type {
  ReceiveCallbackRequest,
  ReceiveCallbackResponse,
} from '../../../proto/gen/ahs/deployments/v1/channels.ts';
import { type ChannelIdentity, NO_BOT } from '../domain/channels/channel.ts';
import { channelNotReady } from '../domain/channels/connection.ts';
import { deploymentNotFound } from '../domain/deployments.ts';
import type { DeliveryStore, NewDelivery } from '../store/deliveries.ts';
import type { ChannelReader, OpenChannel } from './channel-reader.ts';
import type { EventOrigin, Inbox } from './inbox.ts';
import type { MovePlaces } from './place-moves.ts';
import type { CallbackAnswer, ParsedEvent, Product, StoredEvent } from './products/product.ts';
import { productOf } from './products/products.ts';
import type { Verification } from './verification.ts';

interface CallbackContext {
  channels: Pick<ChannelReader, 'find' | 'findCurrent'>;
  deliveries: Pick<DeliveryStore, 'insert'>;
  inbox: Inbox;
  movePlaces: MovePlaces;
  verification: Verification;
  clock: Clock;
}

/**
 * Verifies a callback of a product and commits its event before the answer. The order of the checks is part of the contract:
 * without the secret, a sender learns only whether the channel exists and how long a body may be.
 */
export function createCallback(context: CallbackContext) {
  const { channels, deliveries, inbox, movePlaces, verification, clock } = context;

  /** Returns the refusal of a request that is not authentic, and lists it with its reason. */
  function findRefusal(
    channel: OpenChannel,
    product: Product,
    request: ReceiveCallbackRequest,
    origin: EventOrigin,
  ): Refusal | undefined {
    const refused = (reason: string, refusal: Refusal) => {
      inbox.logUnused(channel, origin, { result: 'refused', reason });
      return refusal;
    };
    if (channel.status !== 'enabled') return refused('disabled', deploymentNotFound());
    if (request.oversize || request.body.length > product.maxBodyBytes)
      return refused(
        'too_large',
        refuse('PAYLOAD_TOO_LARGE', 'The request body is larger than the channel accepts.'),
      );
    const fault = verification.findCallbackFault(channel, request, clock.now());
    return fault === undefined ? undefined : refused(fault, unauthorized());
  }

  /**
   * Undefined until a worker has asked the product. A webhook is registered after its worker has stored the identity, which
   * another process can learn later than the first event arrives.
   */
  async function identityOf(channel: OpenChannel, call: Call): Promise<ChannelIdentity | undefined> {
    if (channel.provider === 'http') return NO_BOT;
    if (channel.identity) return channel.identity;
    return (await channels.findCurrent(channel.deploymentId, call))?.identity ?? undefined;
  }

  /** Only the form of the provider `http` is ours, so only its senders learn what is wrong. */
  async function parse(
    channel: OpenChannel,
    product: Product,
    event: unknown,
    origin: EventOrigin,
    call: Call,
  ): Promise<ParsedEvent> {
    if (event === undefined && channel.provider !== 'http')
      return { outcome: 'ignored', reason: 'malformed' };
    const identity = await identityOf(channel, call);
    if (!identity) {
      inbox.logUnused(channel, origin, { result: 'refused', reason: 'not_connected' });
      throw channelNotReady();
    }
    try {
      return product.parse(event, identity);
    } catch (error) {
      if (error instanceof Refusal)
        inbox.logUnused(channel, origin, { result: 'refused', reason: 'malformed' });
      throw error;
    }
  }

  async function commit(
    channel: OpenChannel,
    delivery: NewDelivery,
    call: Call,
  ): Promise<StoredEvent | undefined> {
    const stored = await deliveries.insert(delivery, call);
    inbox.note(channel, delivery, stored);
    if (stored.outcome === 'gone') throw deploymentNotFound();
    if (stored.deliveryId === undefined) return undefined;
    const { deliveryId, sessionId, outcome } = stored;
    return { deliveryId, sessionId, isDuplicate: outcome === 'duplicate' };
  }

  return async (request: ReceiveCallbackRequest, call: Call): Promise<ReceiveCallbackResponse> => {
    const { deploymentId, body, sourceAddress } = request;
    const channel = isId('dep', deploymentId) ? await channels.find(deploymentId, call) : undefined;
    if (!channel) throw deploymentNotFound();
    const product = productOf(channel.provider);
    const origin = { size: body.length, sourceAddress, traceparent: traceparent(call.trace) };
    const refusal = findRefusal(channel, product, request, origin);
    if (refusal) throw refusal;
    const event = product.decode(request);
    if (product.isCheck(event)) return encoded(product.answer(event, undefined));
    const parsed = await parse(channel, product, event, origin, call);
    if ('move' in parsed && parsed.move) await movePlaces(deploymentId, [parsed.move], call);
    const admission = inbox.admit(channel, parsed, origin);
    if ('delivery' in admission)
      return encoded(product.answer(event, await commit(channel, admission.delivery, call)));
    inbox.logUnused(channel, origin, admission.unused);
    if (admission.unused.result === 'refused') throw unauthorized();
    return encoded(product.answer(event, undefined));
  };
}

/** The sender does not learn the reason, which is in the list of deliveries. */
function unauthorized(): Refusal {
  return refuse('DEPLOYMENT_UNAUTHORIZED', 'The callback is not authentic.');
}

function encoded({ status, contentType, body }: CallbackAnswer): ReceiveCallbackResponse {
  return { status, contentType, body: Buffer.from(body) };
}
