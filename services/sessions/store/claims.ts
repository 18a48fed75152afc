import type { Clock } from '../../../lib/clock.ts';
import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { Ids } from '../../../lib/ids.ts';
import { start } from '../domain/run.ts';
import type { SessionState, TurnState } from '../domain/state.ts';
import { apply, type Decided } from './apply.ts';
import { columns } from './columns.ts';
import type { Hints } from './hints.ts';
import { compose } from './journal.ts';
import type { Known } from './known.ts';
import {
  HEAD_COLUMNS,
  type HeadRow,
  headOf,
  lockHeads,
  TURN_COLUMNS,
  type TurnRow,
  turnOf,
} from './state.ts';

/**
 * Takes from the head of the queue what nobody else is taking. Turn and head are locked without waiting, so a
 * claim never stands in a queue for a lock; what is busy now is there next time. Both are read as they are under
 * the lock; of the session itself only what never changes matters here.
 */
const PICK = statement(
  'sessions.pick_turns',
  `with running as (
     select agent_id, count(*) as turns from turns where status = 'in_progress' group by agent_id
   )
   select ${HEAD_COLUMNS}, ${TURN_COLUMNS},
     coalesce((select r.turns from running r where r.agent_id = t.agent_id), 0) as running
   from turns t join heads h using (session_id) join sessions s using (session_id)
   where t.ready and not (t.agent_id = any(array(select agent_id from running where turns >= $2)))
   order by t.priority, t.turn_id
   limit $1
   for update of t, h skip locked`,
);

const RENEW = statement(
  'sessions.renew_leases',
  `update turns t set lease_until = $2
   from unnest($3::text[], $4::text[], $5::bigint[]) as i (session_id, turn_id, fence)
   where t.session_id = i.session_id and t.status = 'in_progress' and t.turn_id = i.turn_id and t.fence = i.fence
     and t.runner_id = $1
   returning t.turn_id`,
);

const EXPIRED = statement(
  'sessions.expired_leases',
  `select session_id, turn_id, fence from turns where status = 'in_progress' and lease_until < $1
   order by lease_until limit $2`,
);

const WAKE = statement(
  'sessions.wake_turns',
  `update turns set ready = true, wake_at = null
   where (session_id, position) in (
     select session_id, position from turns where wake_at <= $1 order by wake_at limit $2 for update skip locked
   )`,
);

export interface Claimed {
  state: SessionState;
  turn: TurnState;
}

export interface HeldLease {
  sessionId: string;
  turnId: string;
  fence: number;
}

export type Claims = ReturnType<typeof createClaims>;

export interface ClaimsContext {
  db: Database;
  hints: Hints;
  clock: Clock;
  ids: Ids;
  known: Known;
  leaseMs: number;
  /** Turns of one agent in progress at the same time, at most. */
  maxTurnsPerAgent: number;
}

interface Picked extends HeadRow, TurnRow {
  /** Turns of the same agent in progress. */
  running: number;
}

/** The queue: what is ready is claimed under a lease, leases are renewed, and lost ones are found. */
export function createClaims({ db, hints, clock, ids, known, leaseMs, maxTurnsPerAgent }: ClaimsContext) {
  /** Of each agent as many as it may still have in progress. */
  function withinCaps(picked: readonly Picked[]): Picked[] {
    const taken = new Map<string, number>();
    return picked.filter(({ agent_id: agentId, running }) => {
      const others = taken.get(agentId) ?? 0;
      taken.set(agentId, others + 1);
      return running + others < maxTurnsPerAgent;
    });
  }

  function begin(row: Picked, runnerId: string): Decided {
    const now = clock.now();
    const state = headOf(row);
    const until = new Date(now.getTime() + leaseMs);
    const change = start(state, turnOf(row), { runnerId, now, until });
    return { state, change, entry: compose(state.sessionId, state.lastSeq, change.drafts, ids, now) };
  }

  return {
    /** Takes ready turns. `accompany` is told which, and runs while they are being written. */
    async claim<Result>(
      runnerId: string,
      slots: number,
      accompany: (sessionIds: string[]) => Promise<Result>,
      options?: WriteOptions,
    ): Promise<{ claimed: Claimed[]; company: Result | undefined }> {
      let company: Promise<Result> | undefined;
      const decided = await db.transaction(async (tx) => {
        const picked = await tx.rows<Picked>(PICK, [slots, maxTurnsPerAgent]);
        const begun = withinCaps(picked).map((row) => begin(row, runnerId));
        if (begun.length === 0) return [];
        company = accompany(begun.map(({ state }) => state.sessionId));
        // It is awaited below, also when this fails.
        company.catch(() => {});
        await apply(tx, begun, clock.now());
        return begun;
      }, options);
      for (const one of decided) {
        known.note(one);
        hints.appended(one.state.sessionId);
      }
      return { claimed: decided.flatMap(claimedOf), company: await company };
    },

    /** The turns whose lease is still the runner's, with a new end. */
    async renew(runnerId: string, leases: HeldLease[]): Promise<string[]> {
      const until = new Date(clock.now().getTime() + leaseMs);
      const held = columns(leases, (lease) => [lease.sessionId, lease.turnId, lease.fence], 3);
      const rows = await db.transaction(async (tx) => {
        await lockHeads(
          tx,
          leases.map((lease) => lease.sessionId),
        );
        return tx.rows<{ turn_id: string }>(RENEW, [runnerId, until, ...held]);
      });
      return rows.map((row) => row.turn_id);
    },

    async expired(limit: number): Promise<HeldLease[]> {
      const rows = await db.rows<{ session_id: string; turn_id: string; fence: number }>(EXPIRED, [
        clock.now(),
        limit,
      ]);
      return rows.map((row) => ({ sessionId: row.session_id, turnId: row.turn_id, fence: row.fence }));
    },

    /** Makes sleeping turns ready whose time has come. */
    async wake(limit: number): Promise<number> {
      const woken = await db.change(WAKE, [clock.now(), limit]);
      if (woken > 0) hints.ready();
      return woken;
    },
  };
}

function claimedOf({ state, change: { turns } }: Decided): Claimed[] {
  return turns.map((turn) => ({ state, turn }));
}
