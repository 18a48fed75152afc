import { type Database, statement } from '../../../lib/db/database.ts';
import type { Timing } from '../domain/schedules/schedule.ts';
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

const SET = statement(
  'missing_times.set',
  `update schedules s set next_at = m.next_at, due_at = m.due_at
   from unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) as m (deployment_id, next_at, due_at)
   where s.deployment_id = m.deployment_id`,
);

export interface TimelessSchedule {
  deploymentId: string;
  createdAt: Date;
  jitterSeconds: number;
  timing: Timing;
}

interface NextTime {
  nextAt: Date | null;
  dueAt: Date | null;
}

export type MissingTimeStore = ReturnType<typeof createMissingTimeStore>;

export function createMissingTimeStore(db: Database) {
  return {
    /**
     * Computes the next times of a page of enabled schedules without one, behind an id. Returns how many have a time now, and
     * the last id if there can be more.
     */
    compute(after: string, now: Date, compute: (schedule: TimelessSchedule) => NextTime) {
      return db.transaction(async (tx) => {
        const rows = await tx.rows<TimelessSchedule & TimingRow>(PAGE, [after, now]);
        const found = rows
          .map((row) => ({ row, next: compute({ ...row, timing: timingOf(row) }) }))
          .filter(({ next }) => next.nextAt !== null);
        if (found.length > 0)
          await tx.change(SET, [
            found.map(({ row }) => row.deploymentId),
            found.map(({ next }) => next.nextAt),
            found.map(({ next }) => next.dueAt),
          ]);
        const last = rows.length === BATCH ? rows.at(-1)?.deploymentId : undefined;
        return { found: found.length, last };
      });
    },
  };
}
