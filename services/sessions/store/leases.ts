import type { Clock } from '../../../lib/clock.ts';
import { type Database, type ReadOptions, statement } from '../../../lib/db/database.ts';
import { TRIGGERED } from '../domain/create.ts';
import { type Columns, columnNames, columnTable } from './columns.ts';
import { IS_STEERED, lockUnlockedHeads } from './state.ts';

interface LeaseRow {
  session_id: string;
  turn_id: string;
  fence: number;
}

/** A lease is extended when less than this part of its duration is left. */
const RENEW_BELOW = 2 / 3;

export interface TurnLease {
  sessionId: string;
  turnId: string;
  fence: number;
}

const LEASE = {
  session_id: ['text', ({ sessionId }) => sessionId],
  turn_id: ['text', ({ turnId }) => turnId],
  fence: ['bigint', ({ fence }) => fence],
} satisfies Columns<TurnLease>;
const LEASES = columnTable<TurnLease, typeof LEASE>(2, LEASE);
const LEASE_ROWS = LEASES.selectForLookups(columnNames(LEASE));

/** The leases that the runner still holds. Runners renew often, so that they soon learn of a lost lease. */
const HELD = statement(
  'sessions.held_leases',
  `select t.session_id, t.turn_id, t.fence, t.lease_until, ${IS_STEERED} as is_steered
   from (${LEASE_ROWS}) i
   join turns t on t.session_id = i.session_id and t.status = 'in_progress' and t.turn_id = i.turn_id and t.fence = i.fence
   where t.runner_id = $1`,
);

const HELD_TURN = statement(
  'sessions.held_turn',
  `select t.owner_id, t.agent_id, t.agent_version from turns t
   where t.session_id = $1 and t.status = 'in_progress' and t.turn_id = $2 and t.fence = $3 and t.lease_until > $4`,
);

const CHECKED_TURN = statement(
  'sessions.checked_turn',
  `select t.owner_id as "ownerId", t.agent_id as "agentId", s.agent_version as "agentVersion",
     coalesce(s.deployment_id, '') as "deploymentId", t.priority = ${TRIGGERED} as triggered, coalesce(t.credential_uses, '[]') as "credentialUses"
   from turns t join sessions s using (session_id)
   where t.session_id = $1 and t.status = 'in_progress' and t.turn_id = $2 and t.fence = $3 and t.lease_until > $4`,
);

const RENEW = statement(
  'sessions.renew_leases',
  `update turns t set lease_until = $${LEASES.nextParameter}
   from (${LEASE_ROWS}) i
   where t.session_id = i.session_id and t.status = 'in_progress' and t.turn_id = i.turn_id and t.fence = i.fence
     and t.runner_id = $1
   returning t.turn_id`,
);

const EXPIRED = statement(
  'sessions.expired_leases',
  `select session_id, turn_id, fence from turns where status = 'in_progress' and lease_until < $1
   order by lease_until limit $2`,
);

/** A turn whose lease is valid. */
interface CheckedTurn {
  ownerId: string;
  agentId: string;
  /** 0 for an assistant. */
  agentVersion: number;
  /** Empty for a session that a user created. */
  deploymentId: string;
  /** A deployment has started the turn. */
  triggered: boolean;
  /** As in TurnState. */
  credentialUses: readonly string[];
}

type CheckedTurnRow = Omit<CheckedTurn, 'credentialUses'> & { credentialUses: string };

/** The ids of the turns whose lease the runner still holds. */
interface Renewal {
  extended: Set<string>;
  /** The expiry of these leases is as before. */
  unextended: Set<string>;
  /** Of all of them, those that queued messages steer. */
  steered: string[];
}

export type LeaseStore = ReturnType<typeof createLeaseStore>;

interface LeaseStoreContext {
  db: Database;
  clock: Clock;
  leaseMs: number;
}

/** Renews the leases of turns in progress and finds those that have expired. */
export function createLeaseStore({ db, clock, leaseMs }: LeaseStoreContext) {
  return {
    /**
     * Extends those of these leases that the runner still holds and that are due. A due lease whose session another
     * transaction has locked is left to the next call, so that it does not delay the others.
     */
    async renew(runnerId: string, leases: TurnLease[]): Promise<Renewal> {
      const now = clock.now().getTime();
      const held = await db.rows<LeaseRow & { lease_until: Date; is_steered: boolean }>(HELD, [
        runnerId,
        ...LEASES.values(leases),
      ]);
      const isDue = ({ lease_until }: { lease_until: Date }) =>
        lease_until.getTime() - now < leaseMs * RENEW_BELOW;
      const idsOf = (rows: LeaseRow[]) => new Set(rows.map((row) => row.turn_id));
      const due = held.filter(isDue);
      const steered = held.filter((row) => row.is_steered).map((row) => row.turn_id);
      if (due.length === 0) return { extended: new Set(), unextended: idsOf(held), steered };
      const { rows, skipped } = await db.transaction(async (tx) => {
        const locked = await lockUnlockedHeads(
          tx,
          due.map((row) => row.session_id),
        );
        const values = LEASES.values(due.filter((row) => locked.has(row.session_id)).map(leaseOf));
        return {
          rows: await tx.rows<LeaseRow>(RENEW, [runnerId, ...values, new Date(now + leaseMs)]),
          skipped: due.filter((row) => !locked.has(row.session_id)),
        };
      });
      const notDue = held.filter((row) => !isDue(row));
      return { extended: idsOf(rows), unextended: idsOf([...notDue, ...skipped]), steered };
    },

    /** Returns owner and agent version of the turn under this lease. Undefined when the lease is lost or has expired. */
    async turn({ sessionId, turnId, fence }: TurnLease, options?: ReadOptions) {
      const values = [sessionId, turnId, fence, clock.now()];
      const [row] = await db.rows<HeldTurn>(HELD_TURN, values, options);
      return row;
    },

    /** Returns the turn under this lease. Undefined when the lease is lost or has expired. */
    async checkedTurn(
      { sessionId, turnId, fence }: TurnLease,
      options?: ReadOptions,
    ): Promise<CheckedTurn | undefined> {
      const values = [sessionId, turnId, fence, clock.now()];
      const [row] = await db.rows<CheckedTurnRow>(CHECKED_TURN, values, options);
      return row && { ...row, credentialUses: JSON.parse(row.credentialUses) };
    },

    async expired(limit: number): Promise<TurnLease[]> {
      const rows = await db.rows<LeaseRow>(EXPIRED, [clock.now(), limit]);
      return rows.map(leaseOf);
    },
  };
}

interface HeldTurn {
  owner_id: string;
  agent_id: string;
  /** 0 for an assistant. */
  agent_version: number;
}

function leaseOf(row: LeaseRow): TurnLease {
  return { sessionId: row.session_id, turnId: row.turn_id, fence: row.fence };
}
