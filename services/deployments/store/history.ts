import { type Database, statement } from '../../../lib/db/database.ts';
import { idsCreatedBetween } from '../../../lib/ids.ts';
import { sweepPrompts } from './prompts.ts';

const BATCH = 1_000;

/** The ids of runs grow with their creation, so the primary key finds the oldest ones. */
const SWEEP_RUNS = statement(
  'history.sweep_runs',
  `delete from runs where run_id in (
     select run_id from runs where run_id < $1 and created_at < $2 and status not in ('queued', 'running', 'waiting')
     order by run_id limit ${BATCH} for update skip locked)
   returning deployment_id as "deploymentId"`,
);

const SWEEP_BACKFILLS = statement(
  'history.sweep_backfills',
  `delete from backfills b where b.backfill_id < $1 and b.created_at < $2
     and not exists (select from runs r where r.backfill_id = b.backfill_id)`,
);

const LOCK = statement(
  'history.lock_schedules',
  'select deployment_id from schedules where deployment_id = any($1) order by deployment_id for update',
);

export type HistoryStore = ReturnType<typeof createHistoryStore>;

export function createHistoryStore(db: Database) {
  return {
    /** Deletes a batch of rows that were created before a time. Returns whether there can be more. */
    async sweep(before: Date): Promise<boolean> {
      const runs = await db.rows<{ deploymentId: string }>(SWEEP_RUNS, [boundOf('run', before), before]);
      const deploymentIds = [...new Set(runs.map(({ deploymentId }) => deploymentId))];
      if (deploymentIds.length > 0)
        await db.transaction(async (tx) => {
          await tx.rows(LOCK, [deploymentIds]);
          await sweepPrompts(tx, deploymentIds);
        });
      if (runs.length === BATCH) return true;
      await db.change(SWEEP_BACKFILLS, [boundOf('bkf', before), before]);
      return false;
    },
  };
}

function boundOf(prefix: 'run' | 'bkf', before: Date): string {
  return idsCreatedBetween(prefix, undefined, before).before ?? '';
}
