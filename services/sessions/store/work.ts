import { type Database, statement } from '../../../lib/db/database.ts';

/** At most this many rows of each kind are counted, so that the cost of a measurement is bounded. */
const MAX_COUNTED = 100_000;

/** Counts by partial indexes. Turns are ready, behind another turn or a held queue, or asleep after a failure. */
const MEASURE = statement(
  'sessions.measure_work',
  `select
     (select count(*) from (select from turns where ready limit $1) as counted)
       + (select count(*) from (
           select from turns where status = 'queued' and not ready and wake_at is null limit $1
         ) as counted)
       + (select count(*) from (select from turns where wake_at is not null limit $1) as counted) as "queuedTurns",
     least(
       (select created_at from turns where ready and priority = 0 order by turn_id limit 1),
       (select created_at from turns where ready and priority = 1 order by turn_id limit 1)
     ) as "oldestReadyAt",
     (select count(*) from (select from approvals where status = 'pending' limit $1) as counted) as "pendingApprovals",
     (select coalesce(json_agg(json_build_object('state', status, 'count', sandboxes)), '[]')
      from (
        select status, count(*) as sandboxes
        from (select status from sandboxes where ended_at is null limit $1) as counted group by status
      ) as states) as sandboxes`,
);

/** The work that waits or runs, of all instances of the service. */
interface Work {
  queuedTurns: number;
  /** When the oldest turn that a runner could start was created; null without such a turn. */
  oldestReadyAt: Date | null;
  pendingApprovals: number;
  /** Sandboxes that have not ended. */
  sandboxes: { state: string; count: number }[];
}

export type MeasureWork = () => Promise<Work>;

export function createWorkMeasure(db: Database): MeasureWork {
  return async () => {
    const [row] = await db.rows<Omit<Work, 'sandboxes'> & { sandboxes: string }>(MEASURE, [MAX_COUNTED]);
    if (!row) throw new Error('the measurement returned no row');
    return { ...row, sandboxes: JSON.parse(row.sandboxes) };
  };
}
