import type { Clock } from '../../../lib/clock.ts';
import {
  type Database,
  type ReadOptions,
  type Session,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { type Ids, isId } from '../../../lib/ids.ts';
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

/** The sessions of an assistant share a workspace: one turn at a time works on it. */
const OF_ASSISTANT = `collate "C" between 'ast_' and 'ast_~'`;

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
   where t.ready
     and not (t.agent_id = any(array(select agent_id from running where turns >= case when agent_id ${OF_ASSISTANT} then 1 else $2 end)))
   order by t.priority, t.turn_id
   limit $1
   for update of t, h skip locked`,
);

/** What of these leases the runner still holds. It asks often, so that it soon hears of those it has lost. */
const HELD = statement(
  'sessions.held_leases',
  `select t.session_id, t.turn_id, t.fence, t.lease_until
   from unnest($2::text[], $3::text[], $4::bigint[]) as i (session_id, turn_id, fence)
   join turns t on t.session_id = i.session_id and t.status = 'in_progress' and t.turn_id = i.turn_id and t.fence = i.fence
   where t.runner_id = $1`,
);

/**
 * Which of these assistants have no turn in progress. Until the transaction ends nobody else is told that of them.
 */
const FREE = statement(
  'sessions.free_assistants',
  `with mine as materialized (
     select agent_id from unnest($1::text[]) i (agent_id) where pg_try_advisory_xact_lock(hashtextextended(agent_id, 0))
   )
   select agent_id from mine
   where not exists (select from turns t where t.status = 'in_progress' and t.agent_id = mine.agent_id)`,
);

const HELD_TURN = statement(
  'sessions.held_turn',
  `select t.owner_id, t.agent_id from turns t
   where t.session_id = $1 and t.status = 'in_progress' and t.turn_id = $2 and t.fence = $3 and t.lease_until > $4`,
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

/** Turns at the head of their session's queue that were never made ready, though nothing is before them. */
const UNSTICK = statement(
  'sessions.unstick_turns',
  `update turns set ready = true
   where (session_id, position) in (
     select t.session_id, t.position from turns t join heads h using (session_id)
     where t.status = 'queued' and not t.ready and t.wake_at is null and h.current_turn_id is null
       and not exists (
         select from turns o where o.owner_id = t.owner_id and o.session_id = t.session_id and o.finished_at is null
           and o.position < t.position
       )
     limit $1 for update of t, h skip locked
   )`,
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

interface LeaseRow {
  session_id: string;
  turn_id: string;
  fence: number;
}

/** The part of a lease that has to be left for it not to be renewed. */
const FRESH = 2 / 3;

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
      return running + others < (isId('ast', agentId) ? 1 : maxTurnsPerAgent);
    });
  }

  /** Without those of assistants that somebody else works for, or begins to in this moment. */
  async function undisturbed(tx: Session, picked: readonly Picked[]): Promise<Picked[]> {
    const assistants = picked.map((row) => row.agent_id).filter((agentId) => isId('ast', agentId));
    if (assistants.length === 0) return [...picked];
    const free = await tx.rows<{ agent_id: string }>(FREE, [[...new Set(assistants)].sort()]);
    const allowed = new Set(free.map((row) => row.agent_id));
    return picked.filter(({ agent_id: agentId }) => !isId('ast', agentId) || allowed.has(agentId));
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
        const begun = (await undisturbed(tx, withinCaps(picked))).map((row) => begin(row, runnerId));
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

    /** The turns whose lease is still the runner's. Each lease that is no longer fresh gets a new end. */
    async renew(runnerId: string, leases: HeldLease[]): Promise<string[]> {
      const now = clock.now().getTime();
      const held = await db.rows<LeaseRow & { lease_until: Date }>(HELD, [runnerId, ...places(leases)]);
      const isStale = ({ lease_until }: { lease_until: Date }) =>
        lease_until.getTime() - now < leaseMs * FRESH;
      const stale = held.filter(isStale).map(leaseOf);
      if (stale.length === 0) return held.map((row) => row.turn_id);
      const fresh = held.filter((row) => !isStale(row)).map((row) => row.turn_id);
      const rows = await db.transaction(async (tx) => {
        await lockHeads(
          tx,
          stale.map((lease) => lease.sessionId),
        );
        return tx.rows<LeaseRow>(RENEW, [runnerId, new Date(now + leaseMs), ...places(stale)]);
      });
      return [...fresh, ...rows.map((row) => row.turn_id)];
    },

    /** Whose turn a lease is for, while it lasts. */
    async heldTurn({ sessionId, turnId, fence }: HeldLease, options?: ReadOptions) {
      const asked = [sessionId, turnId, fence, clock.now()];
      const [row] = await db.rows<{ owner_id: string; agent_id: string }>(HELD_TURN, asked, options);
      return row;
    },

    async expired(limit: number): Promise<HeldLease[]> {
      const rows = await db.rows<LeaseRow>(EXPIRED, [clock.now(), limit]);
      return rows.map(leaseOf);
    },

    /** Makes sleeping turns ready whose time has come. */
    async wake(limit: number): Promise<number> {
      const woken = await db.change(WAKE, [clock.now(), limit]);
      if (woken > 0) hints.ready();
      return woken;
    },

    /** Makes ready what should have been; there is never any, unless something is wrong. */
    async unstick(limit: number): Promise<number> {
      const freed = await db.change(UNSTICK, [limit]);
      if (freed > 0) hints.ready();
      return freed;
    },
  };
}

function leaseOf(row: LeaseRow): HeldLease {
  return { sessionId: row.session_id, turnId: row.turn_id, fence: row.fence };
}

function places(leases: readonly HeldLease[]): string[] {
  return columns(leases, ({ sessionId, turnId, fence }) => [sessionId, turnId, fence], 3);
}

function claimedOf({ state, change: { turns } }: Decided): Claimed[] {
  return turns.map((turn) => ({ state, turn }));
}
