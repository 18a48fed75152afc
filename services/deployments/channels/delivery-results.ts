import { createHash, randomBytes } from 'node:crypto';
import type { Random } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { refuse, refuseField } from '../../../lib/errors.ts';
import type { AuditRecorder } from '../../../lib/grpc/audit-recorder.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Ids } from '../../../lib/ids.ts';
import {
  type ConversationPlace,
  type FinishDeliveryRequest,
  InboundEvent,
} from '../../../proto/gen/ahs/deployments/v1/channel_work.ts';
import { type ReportedResult, reportedResult } from '../domain/channels/delivery-result.ts';
import { retryAt, waitUntil } from '../domain/channels/delivery-retry.ts';
import { currentPlace } from '../domain/channels/moved-places.ts';
import type { DeliveryResultStore } from '../store/delivery-results.ts';
import { type DeliveryWorkStore, type LockedDelivery, MAX_ATTEMPTS } from '../store/delivery-work.ts';
import type { LinkOffer, LinkStore } from '../store/links.ts';
import { accountOf } from './accounts.ts';
import type { Channel, ChannelReader } from './channel-reader.ts';
import { placeText } from './conversation-messages.ts';
import type { DeliveryCounter } from './delivery-metrics.ts';

const MAX_NOTICES = 20;
const MAX_KEY_CHARACTERS = 200;
const MAX_NOTICE_CHARACTERS = 64 * 1024;
/** 128 bits. */
const CODE_BYTES = 16;
const CODE_MINUTES = 10;

interface DeliveryResultsContext {
  deliveries: Pick<DeliveryWorkStore, 'find'>;
  store: DeliveryResultStore;
  links: Pick<LinkStore, 'ofAccounts' | 'remove'>;
  channels: Pick<ChannelReader, 'channelsOf'>;
  record: AuditRecorder;
  /** Wakes the channel workers. */
  wakeWorkers: (deploymentId: string) => void;
  /** Counts a delivery that got its result. */
  count: DeliveryCounter;
  /** Without a slash at its end. */
  publicUrl: () => string;
  clock: Clock;
  ids: Ids;
  random: Random;
}

/** A delivery of a channel with its event. */
interface OpenedDelivery {
  delivery: LockedDelivery;
  channel: Channel;
  event: InboundEvent;
}

export type DeliveryResults = ReturnType<typeof createDeliveryResults>;

/** Returns the SHA-256 of a link code, by which it is stored. */
export function codeDigest(code: string): Buffer {
  return createHash('sha256').update(code).digest();
}

/** Stores what channel workers did with deliveries. */
export function createDeliveryResults(context: DeliveryResultsContext) {
  const { deliveries, store, links, channels, record, wakeWorkers, count, publicUrl, clock, ids, random } =
    context;

  /** Undefined when the worker has lost the delivery, or its channel is deleted. */
  async function open(
    { deliveryId, fence }: Pick<FinishDeliveryRequest, 'deliveryId' | 'fence'>,
    call: Call,
  ): Promise<OpenedDelivery | undefined> {
    const delivery = await deliveries.find(deliveryId, call);
    if (delivery?.fence !== fence || delivery.payload === null) return undefined;
    const channel = (await channels.channelsOf([delivery.deploymentId], call)).get(delivery.deploymentId);
    return channel && { delivery, channel, event: InboundEvent.decode(delivery.payload) };
  }

  async function removeLink({ channel, event }: OpenedDelivery, call: Call): Promise<void> {
    const [link] = await links.ofAccounts([accountOf(channel, event)], call);
    if (!link) return;
    const { linkId, userId, provider, externalId: external_id } = link;
    const act = { action: 'channel.unlink', targetId: linkId, data: { provider, external_id } } as const;
    await record(act, { ...call, caller: { userId, roles: [] } });
    await links.remove(linkId, { trace: call.trace });
  }

  function newOffer({ channel, event }: OpenedDelivery): { offer: LinkOffer; text: string } {
    const code = randomBytes(CODE_BYTES).toString('base64url');
    const createdAt = clock.now();
    const expiresAt = new Date(createdAt.getTime() + CODE_MINUTES * 60_000);
    const { deploymentId } = channel;
    const account = { ...accountOf(channel, event), externalName: event.senderName };
    return {
      offer: { ...account, codeSha256: codeDigest(code), deploymentId, expiresAt, createdAt },
      text: `Connect your account with this link. It works once, for ${CODE_MINUTES} minutes: ${publicUrl()}/link/${code}`,
    };
  }

  function retryOf({ isWaiting, senderEmail }: FinishDeliveryRequest, now: Date) {
    if (senderEmail) return () => ({ at: now, isWaiting: true });
    return ({ attempts, createdAt }: LockedDelivery) => {
      if (isWaiting) return { at: waitUntil(now, createdAt), isWaiting };
      return attempts >= MAX_ATTEMPTS ? undefined : { at: retryAt(now, attempts, random), isWaiting };
    };
  }

  function reportOf(request: FinishDeliveryRequest, result: ReportedResult, opened: OpenedDelivery) {
    const { delivery, channel, event } = opened;
    const now = clock.now();
    const privateTo = event.senderId;
    const offered = request.offerLink && event.senderId !== '' ? newOffer(opened) : undefined;
    const answersOffer = event.answerToken !== '';
    const { greeting: text } = channel.config;
    const greets = text !== null && delivery.kind === 'message';
    // Posts are ordered by their ids.
    const greeting = greets ? { postId: ids('pst'), key: 'greeting', text, privateTo: null } : undefined;
    const notices = request.notices.map(({ key, text, isPrivate }) => ({
      ...{ postId: ids('pst'), key, text },
      privateTo: isPrivate ? privateTo : null,
    }));
    const linkNotice = offered &&
      !answersOffer && { postId: ids('pst'), key: '', text: offered.text, privateTo };
    const { deliveryId, fence, reason, sessionId, turnId, ownerId, senderEmail } = request;
    const report = {
      ...{ deliveryId, fence, now, reason, sessionId, turnId, ownerId },
      result: result === 'retry' ? ('failed' as const) : result,
      retryAt: result === 'retry' ? retryOf(request, now) : undefined,
      payload: senderEmail ? InboundEvent.encode({ ...event, senderEmail }).finish() : undefined,
      detachesSession: request.detachSession,
      notices: linkNotice ? [...notices, linkNotice] : notices,
      greeting,
      title: event.title,
      place: placeText(atCurrentPlace(event.place ?? NO_PLACE, channel)),
      sender: { ...accountOf(channel, event), name: event.senderName },
      offer: offered?.offer,
      answersOffer,
    };
    return { report, linkNotice: offered && answersOffer ? offered.text : '' };
  }

  return {
    open,

    /** Returns the text of the link notice that the worker shows; empty: none. Throws LEASE_LOST. */
    async finish(request: FinishDeliveryRequest, call: Call): Promise<string> {
      const result = checkReport(request);
      const opened = await open(request, call);
      if (!opened) throw deliveryLost();
      const { deploymentId, provider } = opened.channel;
      if (request.removeLink) await removeLink(opened, call);
      const { report, linkNotice } = reportOf(request, result, opened);
      const outcome = await store.report(report, { trace: call.trace });
      if (outcome === 'lost') throw deliveryLost();
      if (outcome === 'repeated') return linkNotice;
      if (outcome.result !== 'pending') count(provider, outcome.result);
      if (outcome.result !== 'pending' || outcome.isEngaged) wakeWorkers(deploymentId);
      return linkNotice;
    },
  };
}

/** The place may have got another id since the event. */
function atCurrentPlace(place: ConversationPlace, { movedPlaces }: Channel): ConversationPlace {
  return { ...place, place: currentPlace(movedPlaces, place.place) };
}

const NO_PLACE = { place: '', thread: '', isGroup: false };

export function deliveryLost() {
  return refuse('LEASE_LOST', 'Another channel worker has claimed the delivery, or its channel was deleted.');
}

/** Returns the reported result. */
function checkReport({ result, notices, sessionId, ownerId }: FinishDeliveryRequest) {
  const reported = reportedResult(result);
  if (sessionId !== '' && ownerId === '') throw refuseField('/owner_id', 'is required with a session');
  if (notices.length > MAX_NOTICES) throw refuseField('/notices', `has more than ${MAX_NOTICES} items`);
  for (const [index, { key, text }] of notices.entries()) {
    if (key.length > MAX_KEY_CHARACTERS || key.includes('\n'))
      throw refuseField(
        `/notices/${index}/key`,
        `must be one line of at most ${MAX_KEY_CHARACTERS} characters`,
      );
    if (text === '' || text.length > MAX_NOTICE_CHARACTERS)
      throw refuseField(`/notices/${index}/text`, `must have 1 to ${MAX_NOTICE_CHARACTERS} characters`);
  }
  return reported;
}
