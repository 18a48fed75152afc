import type { Clock } from '../../../lib/clock.ts';
import { type Database, type Session, statement } from '../../../lib/db/database.ts';
import type { Ids } from '../../../lib/ids.ts';
import { start } from '../domain/run.ts';
import type { SessionState, TurnState } from '../domain/state.ts';
import { apply, type Decided } from './apply.ts';
import { columns } from './columns.ts';
import type { Hints } from './hints.ts';
import { compose } from './journal.ts';
import { lockHeads, lockStates, TURN_COLUMNS, type TurnRow, turnOf } from './state.ts';

/**
 * Takes from the head of the queue what nobody else is taking. Turn and head are locked without
 * waiting, so a claim never stands in a queue for a lock; what is busy now is there next time.
 */
const PICK = statement(
  'sessions.pick_turns',
  `select t.session_id, ${TURN_COLUMNS}
   from turns t join heads h using (session_id)
   where t.ready and not (t.agent_id = any($2))
   order by t.priority, t.turn_id
   limit $1
   for update skip locked`,
);

const RUNNING = statement(
  'sessions.running_by_agent',
  `select agent_id, count(*) as running from turns where status = 'in_progress' group by agent_id`,
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
  leaseMs: number;
  /** Turns of one agent in progress at the same time, at most. */
  maxTurnsPerAgent: number;
}

/** The queue: what is ready is claimed under a lease, leases are renewed, and lost ones are found. */
export function createClaims({ db, hints, clock, ids, leaseMs, maxTurnsPerAgent }: ClaimsContext) {
  async function claimIn(tx: Session, runnerId: string, slots: number): Promise<Claimed[]> {
    const running = await tx.rows<{ agent_id: string; running: number }>(RUNNING);
    const room = new Map(running.map((row) => [row.agent_id, maxTurnsPerAgent - row.running]));
    const full = [...room].filter(([, left]) => left <= 0).map(([agentId]) => agentId);
    const picked = await tx.rows<TurnRow & { session_id: string }>(PICK, [slots, full]);
    if (picked.length === 0) return [];
    const states = await lockStates(
      tx,
      picked.map((row) => row.session_id),
    );
    const now = clock.now();
    const until = new Date(now.getTime() + leaseMs);
    const claimed: Claimed[] = [];
    const decided: Decided[] = [];
    for (const row of picked) {
      const state = states.get(row.session_id);
      const left = room.get(state?.agentId ?? '') ?? maxTurnsPerAgent;
      if (!state || left <= 0) continue;
      room.set(state.agentId, left - 1);
      const change = start(state, turnOf(row), { runnerId, now, until });
      decided.push({
        state,
        change,
        entry: compose(state.sessionId, state.lastSeq, change.drafts, ids, now),
      });
      const [turn] = change.turns;
      if (turn) claimed.push({ state, turn });
    }
    await apply(tx, decided, now);
    return claimed;
  }

  return {
    async claim(runnerId: string, slots: number): Promise<Claimed[]> {
      const claimed = await db.transaction((tx) => claimIn(tx, runnerId, slots));
      for (const { state } of claimed) hints.appended(state.sessionId);
      return claimed;
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
