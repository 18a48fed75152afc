import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { Status } from '../domain/deployments.ts';
import type { Overlap, Timing } from '../domain/schedules/schedule.ts';
import { TIMING_COLUMNS, type TimingRow, timingOf } from './schedule-rows.ts';

/** A schedule whose next time is due. */
export interface DueSchedule {
  deploymentId: string;
  ownerId: string;
  /** The creation and the status of the deployment. */
  createdAt: Date;
  status: Status;
  timing: Timing;
  jitterSeconds: number;
  overlap: Overlap;
  catchUpSeconds: number;
  runCount: number;
  nextAt: Date;
  dueAt: Date;
  /** Unfinished runs, without those of backfills, and how many of them are queued. */
  unfinished: number;
  queued: number;
}

/** A row of the run history that a fire inserts. */
export interface FiredRun {
  runId: string;
  scheduledFor: Date;
  scheduledUntil: Date | null;
  dueAt: Date;
  count: number;
  status: 'queued' | 'skipped' | 'missed';
  reason: string | null;
  cancelsPrevious: boolean;
  /** Queued, but not before the earlier runs have ended. */
  waits: boolean;
}

interface Fire {
  due: DueSchedule;
  runs: readonly FiredRun[];
  /** Null: no further time. */
  nextAt: Date | null;
  dueAt: Date | null;
}

/** Turns of unfinished runs that decide on an overlap, of the schedules that are due. */
const ACTIVE = statement(
  'fires.active_turns',
  `select r.turn_id as "turnId" from (
     select deployment_id from schedules where due_at <= $1 and overlap <> 'allow' order by due_at limit $2
   ) s join runs r on r.deployment_id = s.deployment_id
     and r.status in ('queued', 'running', 'waiting') and r.turn_id is not null and r.backfill_id is null`,
);

const DUE = statement(
  'fires.due',
  `select s.deployment_id as "deploymentId", s.owner_id as "ownerId", d.created_at as "createdAt", d.status,
     ${TIMING_COLUMNS},
     s.jitter_seconds as "jitterSeconds", s.overlap, s.catch_up_seconds as "catchUpSeconds",
     s.run_count as "runCount", s.next_at as "nextAt", s.due_at as "dueAt", u.unfinished, u.queued
   from (
     select * from schedules where due_at <= $1 and ($3::text is null or deployment_id = $3)
     order by due_at limit $2 for update skip locked
   ) s
   join deployments d using (deployment_id)
   cross join lateral (
     select count(*)::integer as unfinished, (count(*) filter (where status = 'queued'))::integer as queued
     from runs r where r.deployment_id = s.deployment_id and r.status in ('queued', 'running', 'waiting')
       and r.backfill_id is null
   ) u`,
);

/** Inserts the runs and moves the schedules to their next times. A slot that exists already gets no second run. */
const FIRE = statement(
  'fires.fire',
  `with moved as (
     update schedules s set next_at = m.next_at, due_at = m.due_at, run_count = s.run_count + m.runs
     from unnest($1::text[], $2::timestamptz[], $3::timestamptz[], $4::integer[])
       as m (deployment_id, next_at, due_at, runs)
     where s.deployment_id = m.deployment_id
     returning s.deployment_id, s.owner_id, s.prompt_digest
   )
   insert into runs (run_id, deployment_id, owner_id, slot, trigger, status, reason, scheduled_for, scheduled_until,
     due_at, count, number, prompt_digest, cancels_previous, ready_at, position, created_at, finished_at, traceparent)
   select f.run_id, f.deployment_id, moved.owner_id, f.slot, 'scheduled', f.status, f.reason, f.scheduled_for,
     f.scheduled_until, f.due_at, f.count, f.number, case when f.status = 'queued' then moved.prompt_digest end,
     f.cancels_previous, f.ready_at, f.position, $18, case when f.status <> 'queued' then $18::timestamptz end, $19
   from unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::timestamptz[], $11::timestamptz[],
     $12::timestamptz[], $13::integer[], $14::integer[], $15::boolean[], $16::timestamptz[], $17::integer[])
     as f (run_id, deployment_id, slot, status, reason, scheduled_for, scheduled_until, due_at, count, number,
       cancels_previous, ready_at, position)
   join moved using (deployment_id)
   on conflict (deployment_id, slot) do nothing`,
);

interface FireOptions extends WriteOptions {
  now: Date;
  limit: number;
  /** Only this schedule. */
  deploymentId?: string;
  traceparent: string;
  decide: (due: DueSchedule) => Omit<Fire, 'due'>;
}

export type FireStore = ReturnType<typeof createFireStore>;

export function createFireStore(db: Database) {
  return {
    async activeTurns(now: Date, limit: number, options?: WriteOptions): Promise<string[]> {
      return (await db.rows<{ turnId: string }>(ACTIVE, [now, limit], options)).map(({ turnId }) => turnId);
    },

    /** Decides on the times that are due, in one transaction. Other replicas skip the rows. Returns the fires. */
    fire({ now, limit, deploymentId, traceparent, decide, trace }: FireOptions): Promise<Fire[]> {
      return db.transaction(
        async (tx) => {
          const rows = await tx.rows<DueSchedule & TimingRow>(DUE, [now, limit, deploymentId ?? null]);
          const fires = rows.map((row) => {
            const due = { ...row, timing: timingOf(row) };
            return { due, ...decide(due) };
          });
          if (fires.length > 0) await tx.change(FIRE, [...columnsOf(fires, now), now, traceparent]);
          return fires;
        },
        { trace },
      );
    },
  };
}

/** The run number of a schedule and the position in its queue grow with each queued run. */
function columnsOf(fires: readonly Fire[], now: Date): unknown[] {
  const runs = fires.flatMap(({ due, runs: ofSchedule }) => {
    let queued = 0;
    return ofSchedule.map((run) => {
      const isQueued = run.status === 'queued';
      if (isQueued) queued++;
      return {
        ...run,
        deploymentId: due.deploymentId,
        slot: run.scheduledFor.toISOString(),
        number: isQueued ? due.runCount + queued : null,
        position: due.queued + queued,
        readyAt: isQueued && !run.waits ? now : null,
      };
    });
  });
  return [
    fires.map(({ due }) => due.deploymentId),
    fires.map(({ nextAt }) => nextAt),
    fires.map(({ dueAt }) => dueAt),
    fires.map((fire) => fire.runs.filter(({ status }) => status === 'queued').length),
    runs.map(({ runId }) => runId),
    runs.map(({ deploymentId }) => deploymentId),
    runs.map(({ slot }) => slot),
    runs.map(({ status }) => status),
    runs.map(({ reason }) => reason),
    runs.map(({ scheduledFor }) => scheduledFor),
    runs.map(({ scheduledUntil }) => scheduledUntil),
    runs.map(({ dueAt }) => dueAt),
    runs.map(({ count }) => count),
    runs.map(({ number }) => number),
    runs.map(({ cancelsPrevious }) => cancelsPrevious),
    runs.map(({ readyAt }) => readyAt),
    runs.map(({ position }) => position),
  ];
}
