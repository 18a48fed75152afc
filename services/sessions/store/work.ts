import { type Database, statement } from '../../../lib/db/database.ts';
import { timeOf } from '../../../lib/ids.ts';

/** At most this many rows of each kind are counted, so that the cost of a measurement is bounded. */
const MAX_COUNTED = 100_000;

/**
 * Reads only partial indexes and the rows of sandboxes. Queued turns are ready, behind another turn or a held queue, or
 * asleep after a failure.
 */
const MEASURE = statement(
  'sessions.measure_work',
  `select ready.turns + behind.turns + asleep.turns as "queuedTurns", ready.oldest as "oldestReady",
     pending.approvals as "pendingApprovals", states.sandboxes
   from
     (select count(*) as turns, min(turn_id collate "C") as oldest
      from (select turn_id from turns where ready limit $1) as counted) as ready,
     (select count(*) as turns
      from (select from turns where status = 'queued' and not ready and wake_at is null limit $1) as counted) as behind,
     (select count(*) as turns from (select from turns where wake_at is not null limit $1) as counted) as asleep,
     (select count(*) as approvals
      from (select from approvals where status = 'pending' limit $1) as counted) as pending,
     (select coalesce(json_agg(json_build_object('state', status, 'count', sandboxes)), '[]') as sandboxes
      from (
        select status, count(*) as sandboxes
        from (select status from sandboxes where ended_at is null limit $1) as counted group by status
      ) as by_status) as states`,
);

/** The work that waits or runs, of all instances of the service. */
export interface Work {
  queuedTurns: number;
  /** When the oldest turn that a runner could start was created; undefined without such a turn. */
  oldestReadyAt: Date | undefined;
  pendingApprovals: number;
  /** Sandboxes that have not ended. */
  sandboxes: { state: string; count: number }[];
}

interface WorkRow extends Pick<Work, 'queuedTurns' | 'pendingApprovals'> {
  /** trn_…, which contains the time. */
  oldestReady: string | null;
  /** JSON text. */
  sandboxes: string;
}

export type MeasureWork = () => Promise<Work>;

export function createWorkMeasure(db: Database): MeasureWork {
  return async () => {
    const [row] = await db.rows<WorkRow>(MEASURE, [MAX_COUNTED]);
    if (!row) throw new Error('the measurement returned no row');
    const { queuedTurns, pendingApprovals, oldestReady, sandboxes } = row;
    const oldestReadyAt = oldestReady === null ? undefined : timeOf(oldestReady);
    return { queuedTurns, pendingApprovals, oldestReadyAt, sandboxes: JSON.parse(sandboxes) };
  };
}
