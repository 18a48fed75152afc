import type { Clock } from '../../../lib/clock.ts';
import {
  type Database,
  type DatabaseSession,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Share } from '../domain/fair-pick.ts';
import { start } from '../domain/run.ts';
import type { SessionState, TurnState } from '../domain/state.ts';
import { withinCapacity } from './agent-capacity.ts';
import { apply, type SessionChange } from './apply.ts';
import { type ApprovalWithState, approvalsByIds } from './approvals.ts';
import { type Columns, columnNames, columnTable } from './columns.ts';
import { FairQueue } from './fair-queue.ts';
import type { Hints } from './hints.ts';
import { compose } from './journal.ts';
import type { SessionStateCache } from './session-state-cache.ts';
import {
  HEAD_COLUMNS,
  type HeadRow,
  headOf,
  IS_STEERED,
  TURN_COLUMNS,
  type TurnRow,
  turnOf,
} from './state.ts';

type Trace = NonNullable<WriteOptions['trace']>;

/** A pick starts at most this many turns. */
const MAX_TURNS = 128;

const SHARE = {
  priority: ['smallint', ({ priority }) => priority],
  owner_id: ['text', ({ ownerId }) => ownerId],
  agent_id: ['text', ({ agentId }) => agentId],
  turns: ['integer', ({ turns }) => turns],
} satisfies Columns<Share>;
const SHARES = columnTable<Share, typeof SHARE>(1, SHARE);

/**
 * Locks the oldest ready turns of each share, and skips those whose turn or head another transaction has locked, so that
 * a claim never waits for a lock. The columns of turn and head are read under the lock. The columns of the session are
 * not, and only those that never change are used.
 */
const PICK = statement(
  'sessions.pick_turns',
  `select picked.*
   from (${SHARES.selectForLookups(columnNames(SHARE))}) i cross join lateral (
     select ${HEAD_COLUMNS}, h.queued_turns > 1 and ${IS_STEERED} as is_steered, ${TURN_COLUMNS}
     from turns t join heads h using (session_id) join sessions s using (session_id)
     where t.ready and t.priority = i.priority and t.owner_id = i.owner_id and t.agent_id = i.agent_id
     order by t.turn_id
     limit i.turns
     for update of t, h skip locked
   ) picked`,
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

export interface ClaimedTurnState {
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
  /** Agents with ready turns that wait for the end of another turn of the agent. Updated by each claim. */
  fullAgents: Set<string>;
  /** Called when prefetching for a claim has failed. */
  warn(error: unknown): void;
}

interface PickedRow extends HeadRow, TurnRow {
  is_steered: boolean;
}

/** The parts of a claim that its caller provides. */
interface ClaimOptions<Prefetched> {
  /** The traces of the runners' calls. Several share a trace of their own. */
  traces: readonly Trace[];
  /** The number of turns that runners can take. */
  slots: number;
  /**
   * Returns the ids of the runners that start `count` turns, one for each turn. Turns beyond the returned ids stay
   * queued. Called again when the transaction is repeated.
   */
  assign(count: number): string[];
  /**
   * Gets the ids of the sessions and runs while the claim is written. If it fails the claim succeeds without its
   * result: the turns have a lease by then.
   */
  prefetch(sessionIds: string[], trace: Trace | undefined): Promise<Prefetched>;
}

/** Result of a claim. */
export interface TurnClaim<Prefetched> {
  /** The started turns, in the order of the assigned runners. */
  claimed: ClaimedTurnState[];
  /** When the leases began. */
  leasedAt: Date;
  /** The approvals of the open calls of these turns, by id. */
  approvals: Map<string, ApprovalWithState>;
  /** Undefined when nothing was claimed or prefetching failed. */
  prefetched: Prefetched | undefined;
  /** More turns may be ready. */
  isCut: boolean;
  /** Another instance was starting turns of the same agents. */
  isContended: boolean;
  /** Another transaction had locked or started some of the turns, or their sessions. */
  hasSkipped: boolean;
}

/** The queue of turns: runners claim ready turns under a lease. */
export function createTurnQueue(context: TurnQueueContext) {
  const { db, hints, clock, ids, stateCache, counters, leaseMs, maxTurnsPerAgent, fullAgents, warn } =
    context;
  const queue = new FairQueue({ db, maxTurnsPerAgent, fullAgents });

  function startTurn(row: PickedRow, runnerId: string, now: Date): SessionChange {
    const state = { ...headOf(row), isSteered: row.is_steered };
    const until = new Date(now.getTime() + leaseMs);
    const change = start(state, turnOf(row), { runnerId, now, until });
    const journaled = compose(state.sessionId, state.lastSeq, change.drafts, ids, now);
    // The start of a turn is not signalled.
    return { state, change, row: journaled, signals: [] };
  }

  /**
   * Starts turns of these shares. The approvals are read before the commit, because a runner cannot go on with a turn
   * without them.
   */
  async function startTurns<Prefetched>(
    tx: DatabaseSession,
    shares: readonly Share[],
    { assign, prefetch }: ClaimOptions<Prefetched>,
    trace: Trace | undefined,
  ) {
    const { shares: allowed, isContended } = await withinCapacity(tx, shares, maxTurnsPerAgent);
    const picked = allowed.length === 0 ? [] : await tx.rows<PickedRow>(PICK, SHARES.values(allowed));
    const hasSkipped = picked.length < allowed.reduce((sum, { turns }) => sum + turns, 0);
    const leasedAt = clock.now();
    const runnerIds = assign(picked.length);
    const started = runnerIds.flatMap((runnerId, index) => {
      const row = picked[index];
      return row ? [startTurn(row, runnerId, leasedAt)] : [];
    });
    if (started.length === 0)
      return { started, leasedAt, isContended, hasSkipped, approvals: [], prefetching: undefined };
    const sessionIds = started.map(({ state }) => state.sessionId);
    const prefetching = prefetch(sessionIds, trace).catch((error: unknown) => {
      warn(error);
      return undefined;
    });
    const approvalIds = started.flatMap(approvalIdsOf);
    const approvals = approvalIds.length === 0 ? [] : await approvalsByIds(tx, approvalIds);
    await apply(tx, started, leasedAt);
    return { started, leasedAt, isContended, hasSkipped, approvals, prefetching };
  }

  return {
    /** Claims ready turns, divided fairly among owners and agents (`FairQueue`). */
    async claim<Prefetched>(options: ClaimOptions<Prefetched>): Promise<TurnClaim<Prefetched>> {
      const { shares, isCut } = await queue.share(Math.min(options.slots, MAX_TURNS));
      if (shares.length === 0) return { ...NOTHING, leasedAt: clock.now(), isCut };
      const { traces } = options;
      const shared = traces.length > 1 ? db.observer.beginShared('sessions.claims batch', traces) : undefined;
      const trace = shared?.trace ?? traces[0];
      const { started, leasedAt, isContended, hasSkipped, approvals, prefetching } = await db
        .transaction((tx) => startTurns(tx, shares, options, trace), { trace })
        .finally(() => shared?.end());
      counters.claimed(started.length);
      for (const change of started) {
        stateCache.put(change);
        hints.appended(change.state.sessionId);
      }
      return {
        claimed: started.flatMap(claimedTurnsOf),
        leasedAt,
        approvals: new Map(approvals.map((row) => [row.approval_id, row])),
        prefetched: await prefetching,
        isCut,
        isContended,
        hasSkipped,
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

const NOTHING = {
  claimed: [],
  approvals: new Map(),
  prefetched: undefined,
  isContended: false,
  hasSkipped: false,
};

function claimedTurnsOf({ state, change: { turns } }: SessionChange): ClaimedTurnState[] {
  return turns.map((turn) => ({ state, turn }));
}

function approvalIdsOf({ change: { turns } }: SessionChange): string[] {
  const ids = turns.flatMap(({ calls }) =>
    calls.flatMap(({ approval, answerId }) => [approval?.approvalId, approval?.inputFrom, answerId]),
  );
  return [...new Set(ids.filter((id) => id !== undefined))];
}
