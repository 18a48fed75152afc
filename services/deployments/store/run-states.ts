import {
  type Database,
  type DatabaseSession,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { checkAt, releaseWaiting } from './run-changes.ts';
import { changeSchedule, type ScheduledDeployment } from './schedules.ts';

/** The new state of a run that a schedule has started. */
export interface RunChange {
  runId: string;
  status: string;
  reason: string | null;
  /** Null: unchanged. */
  sessionId: string | null;
  turnId: string | null;
  stopReasonJson: string | null;
  usageJson: string | null;
  errorCode: string | null;
  errorMessage: string | null;
  /** Null while the run is not finished. */
  finishedAt: Date | null;
}

/** A run that a change has moved to another status. */
export interface MovedRun {
  runId: string;
  deploymentId: string;
  status: string;
  reason: string | null;
  /** Null: the run has not started. */
  turnId: string | null;
}

/** A run that has started and not finished. */
export interface UnfinishedRun {
  runId: string;
  turnId: string;
}

/** Runs that have finished keep their state. */
const APPLY = statement(
  'run_states.apply',
  `with given as (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
       $9::text[], $10::timestamptz[])
       as g (run_id, status, reason, session_id, turn_id, stop_reason, usage, error_code, error_message, finished_at)
   ),
   earlier as (
     select r.run_id, r.status from runs r join given using (run_id)
     where r.status in ('queued', 'running', 'waiting') order by r.run_id for update of r
   )
   update runs r set status = g.status, reason = g.reason, session_id = coalesce(g.session_id, r.session_id),
     turn_id = coalesce(g.turn_id, r.turn_id), stop_reason = coalesce(g.stop_reason, r.stop_reason),
     usage = coalesce(g.usage, r.usage), error_code = g.error_code, error_message = g.error_message,
     finished_at = g.finished_at, ready_at = null,
     check_at = case when g.status = 'cancelled' and coalesce(g.turn_id, r.turn_id) is null
       then ${checkAt('g.finished_at', 'r')} end
   from given g join earlier on earlier.run_id = g.run_id
   where r.run_id = g.run_id
     and (earlier.status <> g.status or r.reason is distinct from g.reason or r.turn_id is distinct from g.turn_id)
   returning r.run_id as "runId", r.deployment_id as "deploymentId", r.status, r.reason, r.turn_id as "turnId"`,
);

/** Schedules whose consecutive failures change with the end of a run. */
const COUNTING = statement(
  'run_states.counting_schedules',
  `select deployment_id as "deploymentId" from schedules
   where deployment_id = any($1) and (count_failed_turns or deployment_id = any($2))`,
);

const OF_SESSION = statement(
  'run_states.of_sessions',
  `select run_id as "runId", turn_id as "turnId" from runs
   where session_id = any($1) and status in ('running', 'waiting')`,
);

const UNFINISHED = statement(
  'run_states.unfinished',
  `select run_id as "runId", turn_id as "turnId" from runs
   where status in ('running', 'waiting') and run_id > $1 order by run_id limit $2`,
);

/** Started runs of schedules with a run that waits for an earlier one. */
const BLOCKING = statement(
  'run_states.blocking',
  `select r.run_id as "runId", r.turn_id as "turnId" from runs r
   where r.status in ('running', 'waiting') and r.turn_id is not null and r.run_id > $1
     and exists (select from runs w where w.deployment_id = r.deployment_id and w.status = 'queued' and w.ready_at is null)
   order by r.run_id limit $2`,
);

const WAITING = statement(
  'run_states.waiting_schedules',
  `select distinct deployment_id as "deploymentId" from runs
   where status = 'queued' and ready_at is null and deployment_id > $1 order by deployment_id limit $2`,
);

const EARLIER = statement(
  'run_states.earlier',
  `select run_id as "runId", status, session_id as "sessionId", turn_id as "turnId" from runs
   where deployment_id = $1 and run_id < $2 and status in ('queued', 'running', 'waiting') and backfill_id is null
   order by run_id`,
);

/** The last run before another one that was not left out. */
const PREVIOUS = statement(
  'run_states.previous',
  `select status, scheduled_for as "scheduledFor", session_id as "sessionId" from runs
   where deployment_id = $1 and run_id < $2 and status not in ('skipped', 'missed', 'cancelled')
   order by run_id desc limit 1`,
);

interface PreviousRun {
  status: string;
  scheduledFor: Date | null;
  sessionId: string | null;
}

type EarlierRun = Omit<UnfinishedRun, 'turnId'> & {
  status: string;
  sessionId: string | null;
  turnId: string | null;
};

export type RunStateStore = ReturnType<typeof createRunStateStore>;

export function createRunStateStore(db: Database) {
  return {
    /**
     * Applies the changes and makes the runs ready that waited for these. Returns the runs whose state has changed. `count`
     * changes the schedule of a run that could not start, and of a run that has ended when the schedule counts failed
     * turns.
     */
    apply(
      changes: readonly RunChange[],
      count: (current: ScheduledDeployment, run: MovedRun) => ScheduledDeployment,
      now: Date,
      { trace }: WriteOptions = {},
    ): Promise<MovedRun[]> {
      return db.transaction(
        async (tx) => {
          const moved = await applyChanges(tx, changes);
          const deploymentIds = [...new Set(moved.map(({ deploymentId }) => deploymentId))];
          if (deploymentIds.length === 0) return moved;
          const unstarted = moved.filter(isUnstarted).map(({ deploymentId }) => deploymentId);
          const rows = await tx.rows<{ deploymentId: string }>(COUNTING, [deploymentIds, unstarted]);
          const counting = new Set(rows.map(({ deploymentId }) => deploymentId));
          for (const run of moved.filter(({ deploymentId }) => counting.has(deploymentId)))
            await changeSchedule(tx, run.deploymentId, (current) => count(current, run), now);
          await releaseWaiting(tx, deploymentIds, now);
          return moved;
        },
        { trace },
      );
    },

    ofSessions: (sessionIds: readonly string[]) => db.rows<UnfinishedRun>(OF_SESSION, [sessionIds]),
    unfinished: (afterRunId: string, limit: number) =>
      db.rows<UnfinishedRun>(UNFINISHED, [afterRunId, limit]),
    blocking: (afterRunId: string, limit: number) => db.rows<UnfinishedRun>(BLOCKING, [afterRunId, limit]),

    /** Makes runs ready whose earlier runs have ended, of all schedules. */
    async release(now: Date): Promise<void> {
      const limit = 500;
      for (let after = ''; ; ) {
        const rows = await db.rows<{ deploymentId: string }>(WAITING, [after, limit]);
        const ids = rows.map(({ deploymentId }) => deploymentId);
        if (ids.length > 0) await db.transaction((tx) => releaseWaiting(tx, ids, now));
        after = ids.at(-1) ?? '';
        if (ids.length < limit) return;
      }
    },

    earlier: (deploymentId: string, runId: string, options?: WriteOptions): Promise<EarlierRun[]> =>
      db.rows<EarlierRun>(EARLIER, [deploymentId, runId], options),

    async previous(
      deploymentId: string,
      runId: string,
      options?: WriteOptions,
    ): Promise<PreviousRun | undefined> {
      const [row] = await db.rows<PreviousRun>(PREVIOUS, [deploymentId, runId], options);
      return row;
    },
  };
}

function isUnstarted({ status, turnId }: MovedRun): boolean {
  return status === 'failed' && turnId === null;
}

function applyChanges(tx: DatabaseSession, changes: readonly RunChange[]): Promise<MovedRun[]> {
  const column = <Value>(pick: (change: RunChange) => Value) => changes.map(pick);
  return tx.rows<MovedRun>(APPLY, [
    column(({ runId }) => runId),
    column(({ status }) => status),
    column(({ reason }) => reason),
    column(({ sessionId }) => sessionId),
    column(({ turnId }) => turnId),
    column(({ stopReasonJson }) => stopReasonJson),
    column(({ usageJson }) => usageJson),
    column(({ errorCode }) => errorCode),
    column(({ errorMessage }) => errorMessage),
    column(({ finishedAt }) => finishedAt),
  ]);
}
