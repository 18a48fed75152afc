import { type Database, statement } from '../../../lib/db/database.ts';
import { type NextTime, setNextTimes, type UntimedSchedule } from './next-times.ts';
import { TIMING_COLUMNS, type TimingRow, timingOf } from './schedule-rows.ts';

const BATCH = 500;

/** Leaves out schedules whose times are over. Another process can change those that are locked. */
const PAGE = statement(
  'missing_times.page',
  `select s.deployment_id as "deploymentId", d.created_at as "createdAt", s.jitter_seconds as "jitterSeconds",
     ${TIMING_COLUMNS}
   from schedules s join deployments d using (deployment_id)
   where s.deployment_id > $1 and s.next_at is null and d.status = 'enabled'
     and (s.end_at is null or s.end_at > $2)
     and case when s.kind = 'at' then s.expression::timestamptz > $2 else true end
   order by s.deployment_id limit ${BATCH} for update of s skip locked`,
);

export type MissingTimeStore = ReturnType<typeof createMissingTimeStore>;

export function createMissingTimeStore(db: Database) {
  return {
    /**
     * Computes the next times of a page of enabled schedules without one, behind an id. Returns how many have a time now, and
     * the last id if there can be more.
     */
    compute(after: string, now: Date, compute: (schedule: UntimedSchedule) => NextTime) {
      return db.transaction(async (tx) => {
        const rows = await tx.rows<UntimedSchedule & TimingRow>(PAGE, [after, now]);
        const found = rows
          .map((row) => ({ row, next: compute({ ...row, timing: timingOf(row) }) }))
          .filter(({ next }) => next.nextAt !== null);
        await setNextTimes(tx, found);
        const last = rows.length === BATCH ? rows.at(-1)?.deploymentId : undefined;
        return { found: found.length, last };
      });
    },
  };
}
