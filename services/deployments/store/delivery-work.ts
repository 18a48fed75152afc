import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';

/** After so many claims without a result, a delivery has failed. */
export const MAX_ATTEMPTS = 10;

/** Bytes of the events of one claim, which is one message. The last event can exceed it. */
const MAX_BYTES = 24 * 1024 * 1024;

/** Pause of a delivery whose sender could not be checked. */
const POSTPONE_SECONDS = 2;

/** A delivery under a lease, with the conversation as it is now. */
export interface ClaimedDelivery {
  deliveryId: string;
  deploymentId: string;
  fence: number;
  /** Counts this one. */
  attempts: number;
  conversation: string;
  /** An encoded InboundEvent. */
  payload: Buffer;
  traceparent: string | null;
  createdAt: Date;
  /** Null: the conversation has no session. */
  sessionId: string | null;
  sessionOwnerId: string | null;
  /** The last message in or out. Null: there was none. */
  lastActiveAt: Date | null;
}

interface DeliveryClaim {
  now: Date;
  leaseUntil: Date;
  limit: number;
}

/** A delivery with its lease, for the report of its result. */
export interface LockedDelivery {
  deliveryId: string;
  deploymentId: string;
  fence: number;
  result: string;
  attempts: number;
  kind: string;
  conversation: string;
  payload: Buffer | null;
  createdAt: Date;
  claimedAt: Date | null;
  /** Null: the lease was given back. */
  leaseUntil: Date | null;
  userId: string | null;
}

export interface DeliveryLease {
  deliveryId: string;
  fence: number;
}

interface DeliveryResult {
  deliveryId: string;
  result: string;
  reason: string;
  sessionId: string;
  turnId: string;
  finishedAt: Date;
}

/**
 * A message waits for the earlier messages and commands of its conversation. A command waits only for earlier commands, and
 * a click for nothing. A claimed delivery can be claimed again when its lease has ended; after further failures, later.
 */
const CLAIM = statement(
  'delivery_work.claim',
  `with failed as (
     update deliveries set result = 'failed', reason = coalesce(reason, 'no_result'), finished_at = $1, ready_at = null,
       lease_until = null
     where delivery_id in (
       select delivery_id from deliveries
       where ready_at <= $1 and result = 'pending' and (attempts >= ${MAX_ATTEMPTS} or payload is null)
       limit 100 for update skip locked)
     returning deployment_id
   ),
   ready as (
     select d.delivery_id, d.size, d.is_urgent, d.ready_at, d.order_key from deliveries d
     where d.ready_at <= $1 and d.result = 'pending' and d.attempts < ${MAX_ATTEMPTS} and d.payload is not null
       and exists (select from channels c where c.deployment_id = d.deployment_id and c.is_enabled)
       and (d.kind = 'action' or not exists (
         select from deliveries e
         where e.deployment_id = d.deployment_id and e.conversation = d.conversation and e.result = 'pending'
           and e.delivery_id <> d.delivery_id and e.kind <> 'action' and (e.kind = 'command' or d.kind <> 'command')
           and ((e.order_key, e.delivery_id) < (d.order_key, d.delivery_id)
             or (e.lease_until > $1 and e.kind <> 'command'))))
     order by d.is_urgent desc, d.ready_at, d.order_key, d.delivery_id
     limit $3 for update of d skip locked
   ),
   chosen as (
     select delivery_id from (
       select delivery_id, size,
         sum(size) over (order by is_urgent desc, ready_at, order_key, delivery_id) as total
       from ready
     ) summed where total - size < ${MAX_BYTES}
   ),
   claimed as (
     update deliveries d set fence = d.fence + 1, attempts = d.attempts + 1, claimed_at = $1, lease_until = $2,
       is_waiting = false,
       ready_at = $2::timestamptz
         + case when d.attempts = 0 then interval '0' else interval '10 seconds' * (2 ^ (d.attempts - 1)) end
     from chosen where d.delivery_id = chosen.delivery_id
     returning d.*
   )
   select d.delivery_id as "deliveryId", d.deployment_id as "deploymentId", d.fence, d.attempts,
     d.conversation, d.payload, d.traceparent, d.created_at as "createdAt",
     case when c.is_detached then null else c.session_id end as "sessionId", c.session_owner_id as "sessionOwnerId",
     greatest(c.last_in_at, c.last_out_at) as "lastActiveAt"
   from claimed d
   left join conversations c on c.deployment_id = d.deployment_id and c.conversation = d.conversation
   order by d.is_urgent desc, d.order_key, d.delivery_id`,
);

const SET_USER = statement(
  'delivery_work.set_users',
  `update deliveries d set user_id = g.user_id
   from unnest($1::text[], $2::text[]) as g (delivery_id, user_id)
   where d.delivery_id = g.delivery_id`,
);

const COLUMNS = `
  delivery_id as "deliveryId", deployment_id as "deploymentId", fence, result, attempts, kind, conversation, payload,
  created_at as "createdAt", claimed_at as "claimedAt", lease_until as "leaseUntil", user_id as "userId"`;

const FIND = statement('delivery_work.find', `select ${COLUMNS} from deliveries where delivery_id = $1`);

const FIND_ALL = statement(
  'delivery_work.find_all',
  `select ${COLUMNS} from deliveries where delivery_id = any($1)`,
);

const LOCK = statement(
  'delivery_work.lock',
  `select ${COLUMNS} from deliveries where delivery_id = $1 for update`,
);

const FINISH = statement(
  'delivery_work.finish',
  `update deliveries set result = $2, reason = nullif($3, ''), session_id = nullif($4, ''), turn_id = nullif($5, ''),
     finished_at = $6, ready_at = null, lease_until = null, is_waiting = false
   where delivery_id = $1`,
);

const RETRY = statement(
  'delivery_work.retry',
  `update deliveries set ready_at = $2, reason = nullif($3, ''), lease_until = null, is_waiting = $4,
     payload = coalesce($5, payload),
     attempts = case when $4 then greatest(0, attempts - 1) else attempts end
   where delivery_id = $1`,
);

const POSTPONE = statement(
  'delivery_work.postpone',
  `update deliveries set ready_at = $3::timestamptz + interval '${POSTPONE_SECONDS} seconds', lease_until = null,
     attempts = greatest(0, attempts - 1)
   where delivery_id = $1 and fence = $2 and result = 'pending'`,
);

/** The account that has sent the message of a turn. */
const INITIATOR = statement(
  'delivery_work.initiator',
  `select sender_team as team, sender_id as "externalId", user_id as "userId" from deliveries
   where deployment_id = $1 and turn_id = $2 and kind = 'message' and result = 'accepted'
   order by delivery_id limit 1`,
);

/** The account that has sent the message of a turn, and the user that was linked to it at that time. */
export interface Initiator {
  team: string;
  externalId: string | null;
  userId: string | null;
}

export type DeliveryWorkStore = ReturnType<typeof createDeliveryWorkStore>;

export function createDeliveryWorkStore(db: Database) {
  return {
    claim: ({ now, leaseUntil, limit }: DeliveryClaim, options?: WriteOptions): Promise<ClaimedDelivery[]> =>
      db.rows<ClaimedDelivery>(CLAIM, [now, leaseUntil, limit], { trace: options?.trace }),

    /** Stores the linked users of senders. */
    async setUsers(users: readonly { deliveryId: string; userId: string }[], options?: WriteOptions) {
      if (users.length === 0) return;
      const ids = users.map(({ deliveryId }) => deliveryId);
      await db.change(SET_USER, [ids, users.map(({ userId }) => userId)], { trace: options?.trace });
    },

    /** Gives a delivery back that no worker got. */
    async postpone({ deliveryId, fence }: DeliveryLease, now: Date, options?: WriteOptions): Promise<void> {
      await db.change(POSTPONE, [deliveryId, fence, now], { trace: options?.trace });
    },

    async find(deliveryId: string, options?: ReadOptions): Promise<LockedDelivery | undefined> {
      const [row] = await db.rows<LockedDelivery>(FIND, [deliveryId], options);
      return row;
    },

    findAll: (deliveryIds: readonly string[], options?: ReadOptions): Promise<LockedDelivery[]> =>
      db.rows<LockedDelivery>(FIND_ALL, [deliveryIds], options),

    async initiatorOf(
      deploymentId: string,
      turnId: string,
      options?: ReadOptions,
    ): Promise<Initiator | undefined> {
      const [row] = await db.rows<Initiator>(INITIATOR, [deploymentId, turnId], options);
      return row;
    },
  };
}

export async function lockDelivery(
  tx: DatabaseSession,
  deliveryId: string,
): Promise<LockedDelivery | undefined> {
  const [row] = await tx.rows<LockedDelivery>(LOCK, [deliveryId]);
  return row;
}

export async function finishDelivery(tx: DatabaseSession, row: DeliveryResult): Promise<void> {
  const { deliveryId, result, reason, sessionId, turnId, finishedAt } = row;
  await tx.change(FINISH, [deliveryId, result, reason, sessionId, turnId, finishedAt]);
}

/** Gives the lease back. A delivery that waits has not been attempted. */
export async function retryDelivery(
  tx: DatabaseSession,
  { deliveryId, readyAt, reason, isWaiting, payload }: DeliveryRetry,
): Promise<void> {
  await tx.change(RETRY, [deliveryId, readyAt, reason, isWaiting, payload ?? null]);
}

interface DeliveryRetry {
  deliveryId: string;
  readyAt: Date;
  reason: string;
  isWaiting: boolean;
  /** The changed event. Undefined: unchanged. */
  payload: Uint8Array | undefined;
}
