import { type Database, statement } from '../../../lib/db/database.ts';

const TO_CHECK = statement(
  'cancelled_runs.to_check',
  `select run_id as "runId", deployment_id as "deploymentId", owner_id as "ownerId" from runs
   where check_at <= $1 order by check_at limit $2`,
);

const CHECKED = statement('cancelled_runs.checked', 'update runs set check_at = null where run_id = any($1)');

interface CancelledRun {
  runId: string;
  deploymentId: string;
  ownerId: string;
}

export type CancelledRunStore = ReturnType<typeof createCancelledRunStore>;

/** Cancelled runs that a process may have started. Their cancellation sets the time from which their turns are looked up. */
export function createCancelledRunStore(db: Database) {
  return {
    toCheck: (now: Date, limit: number): Promise<CancelledRun[]> =>
      db.rows<CancelledRun>(TO_CHECK, [now, limit]),

    async checked(runIds: readonly string[]): Promise<void> {
      await db.change(CHECKED, [runIds]);
    },
  };
}
