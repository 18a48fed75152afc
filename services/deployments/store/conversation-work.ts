import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';

/** A conversation under a lease. */
export interface ClaimedConversation {
  deploymentId: string;
  conversation: string;
  fence: number;
  sessionId: string | null;
  sessionOwnerId: string | null;
  toldSeq: number;
  /** JSON object {place, thread, is_group}. */
  place: string;
}

interface ConversationClaim {
  workerId: string;
  now: Date;
  leaseUntil: Date;
  /** Conversations that the worker does not hold yet. */
  limit: number;
}

export interface ConversationLease {
  deploymentId: string;
  conversation: string;
  fence: number;
}

/** Conversations with notices that one claim returns again to the worker that holds them. */
const MAX_HELD = 100;
/** Pause before a conversation with open posts is claimed again after its release. */
const REOPEN_SECONDS = 1;

/** Conversations of one channel that workers hold at the same time. The others wait, so that other channels get their share. */
const MAX_OF_CHANNEL = 200;

/** A conversation keeps its fence when its holder claims it again. */
const CLAIM = statement(
  'conversation_work.claim',
  `with held as (
     select deployment_id, conversation from conversations
     where is_engaged and ready_at <= $1 and holder = $2 and lease_until > $1
     limit ${MAX_HELD} for update skip locked
   ),
   leased as (
     select deployment_id, count(*) as number from conversations
     where holder is not null and lease_until > $1 group by deployment_id
   ),
   ready as (
     select c.deployment_id, c.conversation, c.ready_at from conversations c
     where c.is_engaged and c.ready_at <= $1 and (c.lease_until is null or c.lease_until <= $1)
       and exists (select from channels ch where ch.deployment_id = c.deployment_id and ch.is_enabled)
       and c.deployment_id not in (select deployment_id from leased where number >= ${MAX_OF_CHANNEL})
     order by c.ready_at limit $4 for update of c skip locked
   ),
   free as (
     select deployment_id, conversation from (
       select r.deployment_id, r.conversation, coalesce(l.number, 0)
         + row_number() over (partition by r.deployment_id order by r.ready_at, r.conversation) as number
       from ready r left join leased l on l.deployment_id = r.deployment_id
     ) numbered where number <= ${MAX_OF_CHANNEL}
   ),
   chosen as (select *, true as is_held from held union all select *, false from free)
   update conversations c set fence = case when chosen.is_held then c.fence else c.fence + 1 end,
     holder = $2, lease_until = greatest($3, c.lease_until), ready_at = greatest($3, c.lease_until),
     claimed_engagements = c.engagements,
     claimed_revision = case when chosen.is_held then c.claimed_revision else d.revision end
   from chosen join deployments d on d.deployment_id = chosen.deployment_id
   where c.deployment_id = chosen.deployment_id and c.conversation = chosen.conversation
   returning c.deployment_id as "deploymentId", c.conversation, c.fence, c.session_id as "sessionId",
     c.session_owner_id as "sessionOwnerId", c.told_seq as "toldSeq", c.place`,
);

/** A conversation with notices stays ready for its holder. */
const RENEW = statement(
  'conversation_work.renew',
  `update conversations c set lease_until = $3, ready_at = case when c.ready_at <= $2 then c.ready_at else $3 end
   from unnest($4::text[], $5::text[], $6::bigint[]) as g (deployment_id, conversation, fence)
   join channels ch on ch.deployment_id = g.deployment_id and ch.is_enabled
   join deployments d on d.deployment_id = g.deployment_id
   where c.deployment_id = g.deployment_id and c.conversation = g.conversation and c.fence = g.fence and c.holder = $1
     and c.claimed_revision = d.revision
   returning c.deployment_id as "deploymentId", c.conversation, c.fence`,
);

/** A conversation whose channel has changed is claimed again with the new settings. */
const REVOKE = statement(
  'conversation_work.revoke',
  `update conversations c set holder = null, lease_until = null, fence = c.fence + 1, is_engaged = true, ready_at = $2
   from unnest($3::text[], $4::text[], $5::bigint[]) as g (deployment_id, conversation, fence)
   where c.deployment_id = g.deployment_id and c.conversation = g.conversation and c.fence = g.fence and c.holder = $1`,
);

/** Engagements after the claim, and posts that are not posted, keep the conversation engaged. */
const RELEASE = statement(
  'conversation_work.release',
  `with open as (
     select count(*) as number, min(coalesce(next_at, $5)) as next_at from posts
     where deployment_id = $1 and conversation = $2 and state in ('wanted', 'posting')
   )
   update conversations c set holder = null, lease_until = null, told_seq = greatest(c.told_seq, $4),
     told_at = case when $4 > c.told_seq then $5 else c.told_at end,
     is_engaged = c.engagements > c.claimed_engagements or open.number > 0,
     ready_at = case when c.engagements > c.claimed_engagements then $5
       when open.number > 0 then greatest(open.next_at, $5::timestamptz + interval '${REOPEN_SECONDS} seconds') end
   from open
   where c.deployment_id = $1 and c.conversation = $2 and c.fence = $3 and c.holder is not null
   returning c.is_engaged as "isEngaged"`,
);

const FENCE = statement(
  'conversation_work.fence',
  'select fence from conversations where deployment_id = $1 and conversation = $2',
);

/** Signals of sessions. A worker that holds the conversation follows the session and has seen the change. */
const SIGNAL = statement(
  'conversation_work.signal',
  `with signalled as (
     update conversations set is_engaged = true, engagements = engagements + 1,
       ready_at = case when lease_until > $2 then ready_at else least(ready_at, $2) end
     where session_id = any($1)
     returning deployment_id, conversation
   ),
   woken as (
     update deliveries d set ready_at = $2 from signalled s
     where d.deployment_id = s.deployment_id and d.conversation = s.conversation and d.result = 'pending'
       and d.is_waiting and d.lease_until is null and d.ready_at > $2
   )
   select count(*)::integer as count from signalled`,
);

/** Only notices can be told after the session is deleted. The next message finds that it is gone. */
const END = statement(
  'conversation_work.end',
  `with ended as (
     update conversations c set fence = fence + 1, holder = null, lease_until = null,
       is_engaged = exists (select from posts p where p.deployment_id = c.deployment_id
         and p.conversation = c.conversation and p.session_id is null and p.state in ('wanted', 'posting')),
       ready_at = $2
     where session_id = any($1)
     returning deployment_id, conversation, session_id
   )
   update posts p set state = 'dead', error = 'session_deleted', next_at = null, updated_at = $2 from ended e
   where p.deployment_id = e.deployment_id and p.conversation = e.conversation and p.session_id = e.session_id
     and p.state in ('wanted', 'posting')`,
);

export type ConversationWorkStore = ReturnType<typeof createConversationWorkStore>;

export function createConversationWorkStore(db: Database) {
  async function revoke(
    workerId: string,
    leases: readonly ConversationLease[],
    now: Date,
    { trace }: WriteOptions = {},
  ): Promise<void> {
    await db.change(REVOKE, [workerId, now, ...columnsOf(leases)], { trace });
  }

  return {
    claim({ workerId, now, leaseUntil, limit }: ConversationClaim, { trace }: WriteOptions = {}) {
      return db.rows<ClaimedConversation>(CLAIM, [now, workerId, leaseUntil, limit], { trace });
    },

    /** Returns the leases that have ended. */
    async renew(
      workerId: string,
      leases: readonly ConversationLease[],
      { now, leaseUntil }: { now: Date; leaseUntil: Date },
      { trace }: WriteOptions = {},
    ): Promise<ConversationLease[]> {
      if (leases.length === 0) return [];
      const values = [workerId, now, leaseUntil, ...columnsOf(leases)];
      const kept = new Set((await db.rows<ConversationLease>(RENEW, values, { trace })).map(keyOf));
      const lost = leases.filter((lease) => !kept.has(keyOf(lease)));
      if (lost.length > 0) await revoke(workerId, lost, now, { trace });
      return lost;
    },

    /** Ends leases of a worker, so that the conversations can be claimed at once. */
    revoke,

    /** Repeating it changes nothing. Returns false when the fence is not that of the last lease. */
    async release(
      { deploymentId, conversation, fence }: ConversationLease,
      toldSeq: number,
      now: Date,
      { trace }: WriteOptions = {},
    ): Promise<boolean> {
      const values = [deploymentId, conversation, fence, toldSeq, now];
      if ((await db.rows(RELEASE, values, { trace })).length > 0) return true;
      const [current] = await db.rows<{ fence: number }>(FENCE, [deploymentId, conversation], { trace });
      return current?.fence === fence;
    },

    /** Engages the conversations of these sessions. Returns their number. */
    async signal(sessionIds: readonly string[], now: Date): Promise<number> {
      const [row] = await db.rows<{ count: number }>(SIGNAL, [sessionIds, now]);
      return row?.count ?? 0;
    },

    async end(sessionIds: readonly string[], now: Date): Promise<void> {
      await db.change(END, [sessionIds, now]);
    },
  };
}

const columnsOf = (leases: readonly ConversationLease[]) => [
  leases.map(({ deploymentId }) => deploymentId),
  leases.map(({ conversation }) => conversation),
  leases.map(({ fence }) => fence),
];

const keyOf = ({ deploymentId, conversation, fence }: ConversationLease) =>
  `${deploymentId} ${fence} ${conversation}`;
