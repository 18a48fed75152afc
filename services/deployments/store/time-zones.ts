import { type Database, statement } from '../../../lib/db/database.ts';
import { type NextTime, setNextTimes, type UntimedSchedule } from './next-times.ts';
import { TIMING_COLUMNS, type TimingRow, timingOf } from './schedule-rows.ts';

const BATCH = 500;

const VERSION = statement('time_zones.version', 'select version from time_zone_data');

const SET_VERSION = statement(
  'time_zones.set_version',
  `insert into time_zone_data (version) values ($1) on conflict (one) do update set version = excluded.version`,
);

/** Schedules whose next time is not due. An interval does not depend on the zone. */
const PAGE = statement(
  'time_zones.page',
  `select s.deployment_id as "deploymentId", d.created_at as "createdAt", s.jitter_seconds as "jitterSeconds",
     ${TIMING_COLUMNS}, s.next_at as "nextAt"
   from schedules s join deployments d using (deployment_id)
   where s.deployment_id > $1 and s.next_at > $2 and s.kind = 'cron'
   order by s.deployment_id limit ${BATCH} for update of s`,
);

export type TimeZoneStore = ReturnType<typeof createTimeZoneStore>;

export function createTimeZoneStore(db: Database) {
  return {
    /** The version with which next times were computed; undefined in a new database. */
    async version(): Promise<string | undefined> {
      const [row] = await db.rows<{ version: string }>(VERSION);
      return row?.version;
    },

    async setVersion(version: string): Promise<void> {
      await db.change(SET_VERSION, [version]);
    },

    /** Recomputes a page of schedules behind an id. Returns how many have moved, and the last id if there can be more. */
    recompute(after: string, now: Date, compute: (schedule: UntimedSchedule) => NextTime) {
      return db.transaction(async (tx) => {
        const rows = await tx.rows<UntimedSchedule & TimingRow & { nextAt: Date }>(PAGE, [after, now]);
        const moves = rows
          .map((row) => ({ row, next: compute({ ...row, timing: timingOf(row) }) }))
          .filter(({ row, next }) => row.nextAt.getTime() !== next.nextAt?.getTime());
        await setNextTimes(tx, moves);
        const last = rows.length === BATCH ? rows.at(-1)?.deploymentId : undefined;
        return { moved: moves.length, last };
      });
    },
  };
}
