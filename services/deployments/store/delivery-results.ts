import type { Database, DatabaseSession, WriteOptions } from '../../../lib/db/database.ts';
import type { FinalResult } from '../domain/channels/delivery-result.ts';
import {
  addPerson,
  attachSession,
  detachSession,
  engage,
  ensureConversation,
  type LockedConversation,
  setGreeted,
} from './conversations.ts';
import { finishDelivery, type LockedDelivery, lockDelivery, retryDelivery } from './delivery-work.ts';
import { type LinkOffer, type ProductAccount, replaceOffer } from './links.ts';
import { abandonPosts, addNotice, type Notice } from './posts.ts';

type NewNotice = Pick<Notice, 'postId' | 'key' | 'text' | 'privateTo'>;

/** The result of a delivery, with everything that it writes. */
export interface DeliveryReport {
  deliveryId: string;
  fence: number;
  now: Date;
  /** When the delivery is claimed again. Undefined: it is finished. */
  retryAt: ((delivery: LockedDelivery) => { at: Date; isWaiting: boolean } | undefined) | undefined;
  /** With retryAt: the changed event. Undefined: unchanged. */
  payload: Uint8Array | undefined;
  /** Unless the delivery is claimed again. */
  result: FinalResult;
  reason: string;
  sessionId: string;
  turnId: string;
  /** The owner of the session. */
  ownerId: string;
  detachesSession: boolean;
  /** In the order of their posts. */
  notices: readonly NewNotice[];
  /** Posted before the first answer of a conversation. Undefined: none. */
  greeting: NewNotice | undefined;
  title: string;
  place: string;
  sender: ProductAccount & { name: string };
  /** Undefined: no link is offered. */
  offer: LinkOffer | undefined;
  /** The offer is shown with the answer to the event, so a repeated report needs a new one. */
  answersOffer: boolean;
}

/** What a report has changed. `lost`: another worker has claimed the delivery. */
type ReportOutcome = 'lost' | 'repeated' | { result: FinalResult | 'pending'; isEngaged: boolean };

export type DeliveryResultStore = ReturnType<typeof createDeliveryResultStore>;

export function createDeliveryResultStore(db: Database) {
  return {
    /** Stores the result of a delivery once. */
    report: (report: DeliveryReport, { trace }: WriteOptions = {}): Promise<ReportOutcome> =>
      db.transaction(
        async (tx) => {
          const delivery = await lockDelivery(tx, report.deliveryId);
          if (delivery?.fence !== report.fence) return 'lost';
          const isRepeated = delivery.result !== 'pending' || delivery.leaseUntil === null;
          if (report.offer && (!isRepeated || report.answersOffer)) await replaceOffer(tx, report.offer);
          if (isRepeated) return 'repeated';
          const result = await writeResult(tx, delivery, report);
          return { result, isEngaged: await writeConversation(tx, delivery, report) };
        },
        { trace },
      ),
  };
}

/** Returns the stored result. `pending`: the delivery is claimed again. */
async function writeResult(
  tx: DatabaseSession,
  delivery: LockedDelivery,
  { retryAt, payload, result, reason, sessionId, turnId, now }: DeliveryReport,
): Promise<FinalResult | 'pending'> {
  const { deliveryId } = delivery;
  const retry = retryAt?.(delivery);
  if (!retry) {
    await finishDelivery(tx, { deliveryId, result, reason, sessionId, turnId, finishedAt: now });
    return result;
  }
  await retryDelivery(tx, { deliveryId, readyAt: retry.at, reason, isWaiting: retry.isWaiting, payload });
  return 'pending';
}

/** Returns whether the conversation is engaged: something may have to be told in it. */
async function writeConversation(
  tx: DatabaseSession,
  delivery: LockedDelivery,
  report: DeliveryReport,
): Promise<boolean> {
  const { notices, greeting, detachesSession, title, place, sender, sessionId, now } = report;
  const isAccepted = report.result === 'accepted';
  if (!isAccepted && !detachesSession && notices.length === 0) return false;
  const { deploymentId, createdAt } = delivery;
  const seen = { deploymentId, conversation: delivery.conversation, title, place, at: createdAt };
  const conversation = await ensureConversation(tx, seen, isAccepted);
  if (!conversation) return false;
  if (isAccepted) {
    await attach(tx, conversation, delivery, report);
    if (sender.externalId !== '') await addPerson(tx, { ...conversation, ...sender, at: createdAt });
  }
  if (detachesSession) await detachSession(tx, conversation, now);
  const greets = isAccepted && greeting !== undefined && !conversation.isGreeted;
  if (greets) await setGreeted(tx, conversation);
  const added = await addNotices(tx, delivery, greets ? [greeting, ...notices] : notices, now);
  const isEngaged = (isAccepted && sessionId !== '') || added > 0;
  if (isEngaged) await engage(tx, conversation, now, added > 0);
  return isEngaged;
}

/** A conversation that was detached while a worker had the delivery stays detached, but tells the answer. */
async function attach(
  tx: DatabaseSession,
  conversation: LockedConversation,
  { claimedAt }: LockedDelivery,
  { sessionId, ownerId, now }: DeliveryReport,
): Promise<void> {
  if (sessionId === '' || sessionId === conversation.sessionId) return;
  if (conversation.sessionId !== null) await abandonPosts(tx, conversation, conversation.sessionId, now);
  await attachSession(tx, conversation, { sessionId, ownerId });
  const { isDetached, detachedAt } = conversation;
  if (isDetached && detachedAt && claimedAt && detachedAt > claimedAt)
    await detachSession(tx, conversation, detachedAt);
}

async function addNotices(
  tx: DatabaseSession,
  { deliveryId, deploymentId, conversation }: LockedDelivery,
  notices: readonly NewNotice[],
  at: Date,
): Promise<number> {
  let added = 0;
  for (const [index, notice] of notices.entries()) {
    const cause = `${deliveryId}/${index}`;
    if (await addNotice(tx, { ...notice, deploymentId, conversation, cause, at })) added++;
  }
  return added;
}
