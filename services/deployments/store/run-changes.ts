import { type DatabaseSession, statement } from '../../../lib/db/database.ts';

/**
 * SQL for when the turn of a run is looked up that is cancelled at `now`: after the lease of its start. A run without a ready
 * time has never been claimed. `alias` is the alias of the run.
 */
export const checkAt = (now: string, alias = 'runs') =>
  `case when ${alias}.ready_at is not null then greatest(${alias}.ready_at, ${now}::timestamptz) end`;

const CANCEL_QUEUED = statement(
  'runs.cancel_queued',
  `update runs set status = 'cancelled', reason = $2, finished_at = $3, ready_at = null,
     check_at = ${checkAt('$3')}
   where deployment_id = $1 and status = 'queued' and turn_id is null`,
);

const CANCEL_BACKFILL = statement(
  'runs.cancel_backfill',
  `update runs set status = 'cancelled', reason = $2, finished_at = $3, ready_at = null,
     check_at = ${checkAt('$3')}
   where backfill_id = $1 and status = 'queued' and turn_id is null`,
);

const CANCEL_ONE = statement(
  'runs.cancel_one',
  `update runs set status = 'cancelled', finished_at = $2, ready_at = null,
     check_at = ${checkAt('$2')}
   where run_id = $1 and status = 'queued' and turn_id is null`,
);

/**
 * The runs that wait only for runs that have ended: one that waits for the earlier runs of its schedule, or of its
 * backfill.
 */
const RELEASE = statement(
  'runs.release',
  `update runs r set ready_at = $2
   where r.deployment_id = any($1) and r.status = 'queued' and r.ready_at is null
     and not exists (
       select from runs earlier where earlier.deployment_id = r.deployment_id and earlier.run_id < r.run_id
         and earlier.status in ('queued', 'running', 'waiting')
         and earlier.backfill_id is not distinct from r.backfill_id
     )`,
);

/** Cancels the runs of a schedule that have not started. */
export async function cancelQueued(
  tx: DatabaseSession,
  deploymentId: string,
  reason: string,
  now: Date,
): Promise<void> {
  await tx.change(CANCEL_QUEUED, [deploymentId, reason, now]);
}

/** Cancels the runs of a backfill that have not started. */
export async function cancelBackfill(tx: DatabaseSession, backfillId: string, now: Date): Promise<void> {
  await tx.change(CANCEL_BACKFILL, [backfillId, 'backfill_deleted', now]);
}

/** Cancels a run that has not started. */
export async function cancelRun(tx: DatabaseSession, runId: string, now: Date): Promise<void> {
  await tx.change(CANCEL_ONE, [runId, now]);
}

/** Makes runs ready that waited for earlier ones. Returns their number. */
export function releaseWaiting(
  tx: DatabaseSession,
  deploymentIds: readonly string[],
  now: Date,
): Promise<number> {
  return tx.change(RELEASE, [deploymentIds, now]);
}
