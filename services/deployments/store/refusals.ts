import { type CursorScope, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, statement } from '../../../lib/db/database.ts';
import { type Invocation, newestFirst, type RefusalRow } from '../domain.ts';
import { placeOf } from './place.ts';

/** Of each deployment, so many rows of refused calls are kept. */
const KEPT = 1_000;

/**
 * Adds rows and takes the oldest away. Rows of deployments that are gone meanwhile are left out. A row that
 * comes a second time, because nobody heard that the first write succeeded, changes nothing; only one that stands for
 * many calls is counted up.
 */
const ADD = statement(
  'deployments.add_refusals',
  `with
   noted as (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::bigint[], $7::text[],
                          $8::timestamptz[])
       as i (deployment_id, invocation_id, slot, reason, count, body_bytes, source_address, created_at)
   ),
   present as (
     select deployment_id from deployments where deployment_id = any($1) order by deployment_id for key share
   ),
   pruned as (
     delete from refusals old using (select deployment_id, count(*) as rows from noted group by 1) as fresh
     where old.deployment_id = fresh.deployment_id
       and old.invocation_id <= (
         select invocation_id from refusals where deployment_id = fresh.deployment_id
         order by invocation_id desc offset greatest(${KEPT} - fresh.rows, 0) limit 1
       )
       and not exists (select from noted n where n.deployment_id = old.deployment_id and n.slot = old.slot)
   )
   insert into refusals as known
     (deployment_id, invocation_id, slot, reason, count, body_bytes, source_address, created_at)
   select deployment_id, invocation_id, slot, reason, count, body_bytes, source_address, created_at
   from noted join present using (deployment_id)
   on conflict (deployment_id, slot) do update set count = known.count + excluded.count
     where known.slot <> known.invocation_id`,
);

const BEFORE = statement(
  'deployments.refusals_before',
  `select invocation_id as "invocationId", created_at as "createdAt", 'refused' as result, reason,
     body_bytes as "bodyBytes", source_address as "sourceAddress", '' as "sessionId", count
   from refusals where deployment_id = $1 and ($2::text is null or invocation_id < $2)
   order by invocation_id desc limit $3`,
);

/** Reads accepted calls: those with a smaller invocation id than `before` (empty: the newest), newest first. */
export type ReadAccepted = (before: string, limit: number) => Promise<Invocation[]>;

export interface InvocationPage {
  caller: string;
  deploymentId: string;
  limit: number;
  cursor: string;
}

export type RefusalStore = ReturnType<typeof createRefusalStore>;

export function createRefusalStore(db: Database) {
  return {
    /** Repeats itself when two replicas that write at the same time block each other. */
    async add(rows: RefusalRow[]): Promise<void> {
      const column = <Value>(pick: (row: RefusalRow) => Value) => rows.map(pick);
      await db.transaction((tx) =>
        tx.change(ADD, [
          column((row) => row.deploymentId),
          column((row) => row.invocationId),
          column((row) => row.slot),
          column((row) => row.reason),
          column((row) => row.count),
          column((row) => row.bodyBytes),
          column((row) => row.sourceAddress),
          column((row) => row.createdAt),
        ]),
      );
    },

    /** One page of refused and accepted calls together, newest first. */
    async invocations(page: InvocationPage, readAccepted: ReadAccepted, options?: ReadOptions) {
      const scope: CursorScope = ['invocations', page.caller, page.deploymentId];
      const before = placeOf('inv', scope, page.cursor);
      const wanted = page.limit + 1;
      const [accepted, refused] = await Promise.all([
        readAccepted(before ?? '', wanted),
        db.rows<Invocation>(BEFORE, [page.deploymentId, before ?? null, wanted], options),
      ]);
      return pageOf(newestFirst(accepted, refused), page.limit, scope, (row) => row.invocationId);
    },
  };
}
