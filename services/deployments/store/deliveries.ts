import { createBatcher } from '../../../lib/db/batcher.ts';
import { type CursorScope, decodeIdCursor, pageOf } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import { noteEvents } from './connections.ts';
import { type CountedDelivery, countDeliveries } from './counted-deliveries.ts';

/** An event that is for the agent. */
export interface NewDelivery {
  deliveryId: string;
  deploymentId: string;
  /** The product's id of the event. It begins with a letter. */
  dedupeKey: string;
  kind: string;
  conversation: string;
  /** The post that the event is about. If its conversation has no thread, the event belongs to it. Empty: none. */
  botMessageId: string;
  orderKey: string;
  isUrgent: boolean;
  /** The encoded InboundEvent. */
  payload: Uint8Array;
  senderTeam: string;
  senderId: string;
  senderName: string;
  /** Bytes as received. */
  size: number;
  sourceAddress: string;
  traceparent: string;
  createdAt: Date;
  /** It is for the agent only if the bot takes part in the conversation. */
  onlyIfKnown: boolean;
}

/** `unknown_conversation`: the bot does not take part in it. `gone`: the channel was deleted or disabled. */
export type StoredDelivery =
  | { outcome: 'stored' | 'duplicate'; deliveryId: string; sessionId: string | null }
  | { outcome: 'unknown_conversation' | 'gone'; deliveryId?: undefined };

interface InsertedRow {
  position: number;
  isPresent: boolean;
  deliveryId: string | null;
  sessionId: string | null;
}

/**
 * Rows are inserted in the order of their keys, so that two transactions with the same events do not wait for each other. A
 * repeated event returns the row of the first one. The lock of the channel keeps it from being deleted meanwhile.
 */
const INSERT = statement(
  'deliveries.insert',
  `with
   incoming as (
     select i.*, coalesce(
       (select p.conversation from posts p
        join conversations v on v.deployment_id = p.deployment_id and v.conversation = p.conversation
        where i.bot_message_id <> '' and p.deployment_id = i.deployment_id and p.external_id = i.bot_message_id
          and v.place_reason is not null
        limit 1), i.own_conversation) as conversation
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::boolean[],
                          $8::bytea[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::text[], $14::text[],
                          $15::timestamptz[], $16::boolean[], $17::text[])
       with ordinality
       as i (delivery_id, deployment_id, dedupe_key, kind, own_conversation, order_key, is_urgent, payload, sender_team,
             sender_id, sender_name, size, source_address, traceparent, created_at, only_if_known, bot_message_id, position)
   ),
   present as (
     select deployment_id, owner_id from channels where deployment_id = any($2) and is_enabled
     order by deployment_id for key share
   ),
   stored as (
     insert into deliveries as known
       (delivery_id, deployment_id, owner_id, dedupe_key, kind, result, conversation, order_key, is_urgent, payload,
        sender_team, sender_id, sender_name, size, source_address, ready_at, traceparent, created_at)
     select i.delivery_id, deployment_id, p.owner_id, i.dedupe_key, i.kind, 'pending', i.conversation, i.order_key,
       i.is_urgent, i.payload, i.sender_team, i.sender_id, i.sender_name, i.size, i.source_address, i.created_at,
       i.traceparent, i.created_at
     from incoming i join present p using (deployment_id)
     where not i.only_if_known
       or exists (select from conversations v
                  where v.deployment_id = i.deployment_id and v.conversation = i.conversation)
       or exists (select from deliveries d
                  where d.deployment_id = i.deployment_id and d.conversation = i.conversation and d.result = 'pending')
     order by deployment_id, i.dedupe_key
     on conflict (deployment_id, dedupe_key) do update set dedupe_key = excluded.dedupe_key
     returning known.delivery_id, known.deployment_id, known.dedupe_key, known.session_id
   )
   select i.position::integer as position, p.deployment_id is not null as "isPresent", s.delivery_id as "deliveryId",
     coalesce(s.session_id, v.session_id) as "sessionId"
   from incoming i
   left join present p using (deployment_id)
   left join stored s on s.deployment_id = i.deployment_id and s.dedupe_key = i.dedupe_key
   left join conversations v on v.deployment_id = i.deployment_id and v.conversation = i.conversation
     and not v.is_detached`,
);

const LIST = statement(
  'deliveries.list',
  `select delivery_id as "deliveryId", created_at as "createdAt", kind, result, coalesce(reason, '') as reason,
     sender_id as "senderId", coalesce(sender_name, '') as "senderName", coalesce(user_id, '') as "userId",
     coalesce(conversation, '') as conversation, coalesce(session_id, '') as "sessionId",
     coalesce(turn_id, '') as "turnId", size, source_address as "sourceAddress", attempts, count
   from deliveries
   where deployment_id = $1 and ($2::text is null or delivery_id < $2) and ($3 = '' or result = $3)
   order by delivery_id desc limit $4`,
);

/** A delivery in the list. */
export interface ListedDelivery {
  deliveryId: string;
  createdAt: Date;
  kind: string;
  result: string;
  reason: string;
  /** Null: unknown. */
  senderId: string | null;
  senderName: string;
  userId: string;
  conversation: string;
  sessionId: string;
  turnId: string;
  size: number;
  sourceAddress: string;
  attempts: number;
  count: number;
}

interface DeliveryPage {
  caller: string;
  deploymentId: string;
  /** Empty: all. */
  result: string;
  limit: number;
  cursor: string;
}

/** Events of a connection, which are committed with its new resume state. */
interface AcceptedEvents {
  deploymentId: string;
  fence: number;
  /** Null: there are no events, only a resume state. */
  arrivedAt: Date | null;
  /** Null: unchanged. */
  sealedResume: string | null;
  deliveries: readonly NewDelivery[];
}

const BATCH = { maxItems: 500, maxBytes: 8 * 1024 * 1024 };

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

export function createDeliveryStore(db: Database) {
  const insertions = createBatcher<NewDelivery, StoredDelivery>({
    name: 'deliveries.insertions',
    observer: db.observer,
    run: (deliveries, options) => insertDeliveries(db.within(options), deliveries),
    sizeOf: ({ payload }) => payload.length + 1_000,
    // A statement cannot insert a row and find it as a repetition.
    keyOf: ({ deploymentId, dedupeKey }) => `${deploymentId} ${dedupeKey}`,
    ownerOf: ({ deploymentId }) => deploymentId,
    ...BATCH,
  });

  return {
    /** Commits an event. Concurrent calls share a statement and its commit. */
    insert: (delivery: NewDelivery, options?: ReadOptions): Promise<StoredDelivery> =>
      insertions.submit(delivery, options),

    /** Commits events of a connection. Refused with LEASE_LOST when another worker holds the lease. */
    accept(
      { deploymentId, fence, arrivedAt, sealedResume, deliveries }: AcceptedEvents,
      { trace }: ReadOptions,
    ): Promise<StoredDelivery[]> {
      return db.transaction(
        async (tx) => {
          // The channel is locked before its connection, as in all transactions.
          const stored = deliveries.length > 0 ? await insertDeliveries(tx, deliveries) : [];
          if (await noteEvents(tx, deploymentId, fence, arrivedAt, sealedResume)) return stored;
          throw refuse('LEASE_LOST', 'Another channel worker holds the connection.');
        },
        { trace },
      );
    },

    /** Adds rows that stand for ignored, refused and repeated events. Rows of deleted channels are skipped. */
    count: (rows: readonly CountedDelivery[]): Promise<void> =>
      db.transaction((tx) => countDeliveries(tx, rows)),

    async list(page: DeliveryPage, options?: ReadOptions) {
      const { caller, deploymentId, result, limit } = page;
      const scope: CursorScope = ['deliveries', caller, deploymentId, result];
      const before = decodeIdCursor('dlv', scope, page.cursor) ?? null;
      const rows = await db.rows<ListedDelivery>(LIST, [deploymentId, before, result, limit + 1], options);
      return pageOf(rows, limit, scope, (row) => row.deliveryId);
    },
  };
}

/** Deliveries of one call have different keys. Returns their results in the same order. */
async function insertDeliveries(
  session: DatabaseSession,
  deliveries: readonly NewDelivery[],
): Promise<StoredDelivery[]> {
  const column = <Value>(pick: (delivery: NewDelivery) => Value) => deliveries.map(pick);
  const rows = await session.rows<InsertedRow>(INSERT, [
    column((one) => one.deliveryId),
    column((one) => one.deploymentId),
    column((one) => one.dedupeKey),
    column((one) => one.kind),
    column((one) => one.conversation),
    column((one) => one.orderKey),
    column((one) => one.isUrgent),
    column((one) => Buffer.from(one.payload)),
    column((one) => one.senderTeam),
    column((one) => one.senderId),
    column((one) => one.senderName),
    column((one) => one.size),
    column((one) => one.sourceAddress),
    column((one) => one.traceparent),
    column((one) => one.createdAt),
    column((one) => one.onlyIfKnown),
    column((one) => one.botMessageId),
  ]);
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  return deliveries.map(({ deliveryId }, index) => resultOf(byPosition.get(index + 1), deliveryId));
}

function resultOf(row: InsertedRow | undefined, ownId: string): StoredDelivery {
  if (!row?.isPresent) return { outcome: 'gone' };
  const { deliveryId, sessionId } = row;
  if (deliveryId === null) return { outcome: 'unknown_conversation' };
  return { outcome: deliveryId === ownId ? 'stored' : 'duplicate', deliveryId, sessionId };
}
