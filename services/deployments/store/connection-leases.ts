import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';

interface ConnectionClaim {
  workerId: string;
  limit: number;
  now: Date;
  leaseUntil: Date;
}

/** A connection that a worker has claimed. */
export interface LeasedConnection {
  deploymentId: string;
  fence: number;
  /** The worker removes the channel from its product. */
  removes: boolean;
  sealedResume: string | null;
}

export interface ConnectionLease {
  deploymentId: string;
  fence: number;
}

/** A connection is ready again when its lease has ended, so another worker takes over that of a worker that was killed. */
const CLAIM = statement(
  'channel-connections.claim',
  `with ready as (
     select deployment_id from connections
     where ready_at <= $1 and (wanted = 'connect' or (wanted = 'remove' and remove_until > $1))
     order by ready_at limit $2 for update skip locked
   )
   update connections c set holder = $3, fence = c.fence + 1, lease_until = $4, ready_at = $4,
     state = case when wanted = 'connect' then 'connecting' else state end,
     since = case when wanted = 'connect' and state <> 'connecting' then $1 else since end
   from ready where c.deployment_id = ready.deployment_id
   returning c.deployment_id as "deploymentId", c.fence, c.wanted = 'remove' as removes, c.sealed_resume as "sealedResume"`,
);

const RENEW = statement(
  'channel-connections.renew',
  `update connections c set lease_until = $4, ready_at = $4
   from unnest($1::text[], $2::bigint[]) as given (deployment_id, fence)
   where c.deployment_id = given.deployment_id and c.fence = given.fence and c.holder = $3
   returning c.deployment_id as "deploymentId", c.fence`,
);

const RELEASE = statement(
  'channel-connections.release',
  `update connections set holder = null, lease_until = null, ready_at = $3,
     state = case when state = 'connected' then 'connecting' else state end,
     since = case when state = 'connected' then $3 else since end
   where deployment_id = $1 and fence = $2 and holder is not null`,
);

const NEXT = statement(
  'channel-connections.next',
  `select min(ready_at) as "readyAt" from connections where ready_at is not null`,
);

export type ConnectionLeaseStore = ReturnType<typeof createConnectionLeaseStore>;

export function createConnectionLeaseStore(db: Database) {
  return {
    claim({ workerId, limit, now, leaseUntil }: ConnectionClaim, options?: WriteOptions) {
      return db.rows<LeasedConnection>(CLAIM, [now, limit, workerId, leaseUntil], options);
    },

    /** Returns the leases that were renewed. */
    async renew(
      leases: readonly ConnectionLease[],
      workerId: string,
      leaseUntil: Date,
      options?: WriteOptions,
    ): Promise<ConnectionLease[]> {
      if (leases.length === 0) return [];
      const ids = leases.map(({ deploymentId }) => deploymentId);
      const fences = leases.map(({ fence }) => fence);
      return db.rows<ConnectionLease>(RENEW, [ids, fences, workerId, leaseUntil], options);
    },

    /** Another worker can claim the connection at once. A lease that has ended is not changed. */
    async release({ deploymentId, fence }: ConnectionLease, now: Date, options?: WriteOptions) {
      await db.change(RELEASE, [deploymentId, fence, now], options);
    },

    /** The next time at which a connection can be claimed, if there is any. */
    async next(): Promise<Date | undefined> {
      const [row] = await db.rows<{ readyAt: Date | null }>(NEXT);
      return row?.readyAt ?? undefined;
    },
  };
}
