import type { Clock } from '../../../lib/clock.ts';
import {
  type Database,
  type DatabaseSession,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { type Ids, isId } from '../../../lib/ids.ts';
import { start } from '../domain/run.ts';
import type { SessionState, TurnState } from '../domain/state.ts';
import { apply, type SessionChange } from './apply.ts';
import { type ApprovalRow, approvalsByIds } from './approvals.ts';
import type { Hints } from './hints.ts';
import { compose } from './journal.ts';
import type { SessionStateCache } from './session-state-cache.ts';
import { HEAD_COLUMNS, type HeadRow, headOf, TURN_COLUMNS, type TurnRow, turnOf } from './state.ts';

/** The sessions of an assistant share one workspace, so only one turn of an assistant is in progress at a time. */
const OF_ASSISTANT = `collate "C" between 'ast_' and 'ast_~'`;

/**
 * Picks ready turns, and skips those whose turn or head another transaction has locked, so that a claim never waits
 * for a lock; the next claim picks them. The columns of turn and head are read under the lock. The columns of the
 * session are not, and only those that never change are used.
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

/**
 * The assistants without a turn in progress. The advisory lock keeps concurrent claims from getting the same assistant
 * until the transaction ends.
 */
const FREE = statement(
  'sessions.free_assistants',
  `with mine as materialized (
     select agent_id from unnest($1::text[]) i (agent_id) where pg_try_advisory_xact_lock(hashtextextended(agent_id, 0))
   )
   select agent_id from mine
   where not exists (select from turns t where t.status = 'in_progress' and t.agent_id = mine.agent_id)`,
);

/** Makes turns ready that are first in a queue which is not held, behind no current turn, and were not made ready. */
const UNSTICK = statement(
  'sessions.unstick_turns',
  `update turns set ready = true
   where (session_id, position) in (
     select t.session_id, t.position from turns t join heads h using (session_id)
     where t.status = 'queued' and not t.ready and t.wake_at is null and h.current_turn_id is null and not h.queue_held
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

interface ClaimedTurnState {
  state: SessionState;
  turn: TurnState;
}

export type TurnQueue = ReturnType<typeof createTurnQueue>;

interface TurnQueueContext {
  db: Database;
  hints: Hints;
  clock: Clock;
  ids: Ids;
  stateCache: SessionStateCache;
  counters: { claimed(turns: number): void };
  leaseMs: number;
  /** Turns of one agent that may be in progress at the same time. */
  maxTurnsPerAgent: number;
  /** Called when prefetching for a claim has failed. */
  warn(error: unknown): void;
}

interface Picked extends HeadRow, TurnRow {
  /** Turns of the same agent in progress. */
  running: number;
}

/** Result of a claim that started turns. */
interface Claim<Prefetched> {
  claimed: ClaimedTurnState[];
  /** The approvals of the open calls of these turns, by id. */
  approvals: Map<string, ApprovalRow>;
  /** Undefined when nothing was claimed or prefetching failed. */
  prefetched: Prefetched | undefined;
}

/** The queue of turns: runners claim ready turns under a lease. */
export function createTurnQueue(context: TurnQueueContext) {
  const { db, hints, clock, ids, stateCache, counters, leaseMs, maxTurnsPerAgent, warn } = context;

  /** For each agent, as many turns as it may still have in progress. */
  function withinCaps(picked: readonly Picked[]): Picked[] {
    const taken = new Map<string, number>();
    return picked.filter(({ agent_id: agentId, running }) => {
      const others = taken.get(agentId) ?? 0;
      taken.set(agentId, others + 1);
      return running + others < (isId('ast', agentId) ? 1 : maxTurnsPerAgent);
    });
  }

  /** Leaves out turns of assistants that have a turn in progress or whose turn a concurrent claim starts. */
  async function ofFreeAssistants(tx: DatabaseSession, picked: readonly Picked[]): Promise<Picked[]> {
    const assistants = picked.map((row) => row.agent_id).filter((agentId) => isId('ast', agentId));
    if (assistants.length === 0) return [...picked];
    const free = await tx.rows<{ agent_id: string }>(FREE, [[...new Set(assistants)].sort()]);
    const allowed = new Set(free.map((row) => row.agent_id));
    return picked.filter(({ agent_id: agentId }) => !isId('ast', agentId) || allowed.has(agentId));
  }

  function startTurn(row: Picked, runnerId: string): SessionChange {
    const now = clock.now();
    const state = headOf(row);
    const until = new Date(now.getTime() + leaseMs);
    const change = start(state, turnOf(row), { runnerId, now, until });
    return { state, change, row: compose(state.sessionId, state.lastSeq, change.drafts, ids, now) };
  }

  return {
    /**
     * Claims up to `slots` ready turns. `prefetch` gets the ids of their sessions and runs while the claim is
     * written. If it fails the claim succeeds without its result: the turns have a lease by then. The approvals are
     * read before the commit, because a runner cannot go on with a turn without them.
     */
    async claim<Prefetched>(
      runnerId: string,
      slots: number,
      prefetch: (sessionIds: string[]) => Promise<Prefetched>,
      options?: WriteOptions,
    ): Promise<Claim<Prefetched>> {
      let prefetching: Promise<Prefetched | undefined> | undefined;
      const { started, approvals } = await db.transaction(async (tx) => {
        const picked = await tx.rows<Picked>(PICK, [slots, maxTurnsPerAgent]);
        const free = await ofFreeAssistants(tx, withinCaps(picked));
        if (free.length === 0) return { started: [], approvals: [] };
        const changes = free.map((row) => startTurn(row, runnerId));
        prefetching = prefetch(changes.map(({ state }) => state.sessionId)).catch((error: unknown) => {
          warn(error);
          return undefined;
        });
        const approvalIds = changes.flatMap(approvalIdsOf);
        const rows = approvalIds.length === 0 ? [] : await approvalsByIds(tx, approvalIds);
        await apply(tx, changes, clock.now());
        return { started: changes, approvals: rows };
      }, options);
      counters.claimed(started.length);
      for (const change of started) {
        stateCache.put(change);
        hints.appended(change.state.sessionId);
      }
      return {
        claimed: started.flatMap(claimedTurnsOf),
        approvals: new Map(approvals.map((row) => [row.approval_id, row])),
        prefetched: await prefetching,
      };
    },

    /** Makes up to `limit` turns ready whose wake time has passed. Returns how many. */
    async wake(limit: number): Promise<number> {
      const woken = await db.change(WAKE, [clock.now(), limit]);
      if (woken > 0) hints.ready();
      return woken;
    },

    /** Repairs turns that should be ready and are not. Returns how many; always 0 unless there is a bug. */
    async unstick(limit: number): Promise<number> {
      const repaired = await db.change(UNSTICK, [limit]);
      if (repaired > 0) hints.ready();
      return repaired;
    },
  };
}

function claimedTurnsOf({ state, change: { turns } }: SessionChange): ClaimedTurnState[] {
  return turns.map((turn) => ({ state, turn }));
}

function approvalIdsOf({ change: { turns } }: SessionChange): string[] {
  return turns.flatMap(({ calls }) => calls.flatMap(({ approval }) => approval?.approvalId ?? []));
}
