import { type CursorScope, decodeIdCursor, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { type IdempotencyKey, runOnce } from '../../../lib/db/idempotency.ts';
import { cancelBackfill } from './run-changes.ts';

interface NewBackfill {
  backfillId: string;
  deploymentId: string;
  from: Date;
  until: Date;
  overlap: 'allow' | 'buffer_all';
  skipExisting: boolean;
  createdBy: string;
  createdAt: Date;
}

export interface StoredBackfill extends NewBackfill {
  count: number;
  started: number;
  finished: number;
  cancelled: number;
}

interface BackfillRun {
  runId: string;
  scheduledFor: Date;
}

interface BackfillPage {
  caller: string;
  deploymentId: string;
  limit: number;
  cursor: string;
}

const COLUMNS = `
  b.backfill_id as "backfillId", b.deployment_id as "deploymentId", b.from_at as "from", b.until_at as "until",
  b.overlap, b.skip_existing as "skipExisting", b.count, b.created_by as "createdBy", b.created_at as "createdAt",
  n.started, n.finished, n.cancelled`;

const WITH_NUMBERS = `cross join lateral (
  select (count(*) filter (where started_at is not null))::integer as started,
    (count(*) filter (where finished_at is not null and status <> 'cancelled'))::integer as finished,
    (count(*) filter (where status = 'cancelled'))::integer as cancelled
  from runs r where r.backfill_id = b.backfill_id
) n`;

const FIND = statement(
  'backfills.find',
  `select ${COLUMNS} from backfills b ${WITH_NUMBERS} where b.deployment_id = $1 and b.backfill_id = $2`,
);

const LIST = statement(
  'backfills.list',
  `select ${COLUMNS} from backfills b ${WITH_NUMBERS}
   where b.deployment_id = $1 and ($2::text is null or b.backfill_id < $2)
   order by b.backfill_id desc limit $3`,
);

const EXISTING = statement(
  'backfills.existing_times',
  `select scheduled_for as "at" from runs
   where deployment_id = $1 and scheduled_for = any($2::timestamptz[])
     and status not in ('skipped', 'missed', 'cancelled')`,
);

const INSERT = statement(
  'backfills.insert',
  `with numbered as (
     update schedules s set run_count = run_count + $9 where deployment_id = $2
     returning owner_id, prompt_digest, run_count - $9 as number,
       (select count(*)::integer from runs r where r.deployment_id = $2 and r.status = 'queued') as position
   ),
   backfill as (
     insert into backfills (backfill_id, deployment_id, owner_id, from_at, until_at, overlap, skip_existing, count,
       created_by, created_at)
     select $1, $2, owner_id, $3, $4, $5, $6, $9, $7, $8 from numbered
     returning backfill_id
   )
   insert into runs (run_id, deployment_id, owner_id, slot, trigger, status, scheduled_for, number, prompt_digest,
     ready_at, position, backfill_id, created_by, created_at, traceparent)
   select r.run_id, $2, n.owner_id, $1 || '/' || r.slot, 'backfill', 'queued', r.scheduled_for,
     n.number + r.index::integer, n.prompt_digest,
     case when $5 = 'allow' or r.index = 1 then $8::timestamptz end, n.position + r.index::integer,
     backfill.backfill_id, $7, $8, $13
   from unnest($10::text[], $11::timestamptz[], $12::text[]) with ordinality
     as r (run_id, scheduled_for, slot, index)
   cross join numbered n cross join backfill`,
);

export type BackfillStore = ReturnType<typeof createBackfillStore>;

export function createBackfillStore(db: Database) {
  return {
    async find(deploymentId: string, backfillId: string, options?: ReadOptions) {
      const [row] = await db.rows<StoredBackfill>(FIND, [deploymentId, backfillId], options);
      return row;
    },

    async list({ caller, deploymentId, limit, cursor }: BackfillPage, options?: ReadOptions) {
      const scope: CursorScope = ['backfills', caller, deploymentId];
      const before = decodeIdCursor('bkf', scope, cursor) ?? null;
      const rows = await db.rows<StoredBackfill>(LIST, [deploymentId, before, limit + 1], options);
      return pageOf(rows, limit, scope, (row) => row.backfillId);
    },

    /** Those of the scheduled times that have a run, in milliseconds since the epoch. */
    async existingTimes(deploymentId: string, times: readonly Date[], options?: ReadOptions) {
      const rows = await db.rows<{ at: Date }>(EXISTING, [deploymentId, times], options);
      return new Set(rows.map(({ at }) => at.getTime()));
    },

    /** Queues the runs once per caller and Idempotency-Key. */
    create(
      backfill: NewBackfill,
      runs: readonly BackfillRun[],
      key: IdempotencyKey,
      response: Uint8Array,
      traceparent: string,
      { trace, viewer }: WriteOptions,
    ) {
      const values = [
        backfill.backfillId,
        backfill.deploymentId,
        backfill.from,
        backfill.until,
        backfill.overlap,
        backfill.skipExisting,
        backfill.createdBy,
        backfill.createdAt,
        runs.length,
        runs.map(({ runId }) => runId),
        runs.map(({ scheduledFor }) => scheduledFor),
        runs.map(({ scheduledFor }) => scheduledFor.toISOString()),
        traceparent,
      ];
      const insert = async (tx: { change: Database['change'] }) => {
        await tx.change(INSERT, values);
        return response;
      };
      return runOnce(db, key, insert, { trace, viewer });
    },

    /** Cancels the runs that have not started. */
    async cancel(backfillId: string, now: Date, { trace, viewer }: WriteOptions): Promise<void> {
      await db.transaction((tx) => cancelBackfill(tx, backfillId, now), { trace, viewer });
    },
  };
}
