import { type CursorScope, decodeIdCursor, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, statement } from '../../../lib/db/database.ts';
import { type Invocation, mergeNewestFirst, type RefusalRow } from '../domain/invocations.ts';

/** Rows that are kept per deployment. */
const MAX_ROWS = 1_000;

/**
 * Adds rows and deletes the oldest rows. Rows of deleted deployments are skipped. A row that is written again, because
 * the result of the first write was lost, changes nothing; only the count of a row for several requests increases.
 */
const ADD = statement(
  'deployments.add_refusals',
  `with
   noted as (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::bigint[], $7::text[],
                          $8::timestamptz[], $9::text[])
       as i (deployment_id, invocation_id, slot, reason, count, body_bytes, source_address, created_at, request_id)
   ),
   present as (
     select deployment_id from deployments where deployment_id = any($1) order by deployment_id for key share
   ),
   pruned as (
     delete from refusals old using (select deployment_id, count(*) as rows from noted group by 1) as fresh
     where old.deployment_id = fresh.deployment_id
       and old.invocation_id <= (
         select invocation_id from refusals where deployment_id = fresh.deployment_id
         order by invocation_id desc offset greatest(${MAX_ROWS} - fresh.rows, 0) limit 1
       )
       and not exists (select from noted n where n.deployment_id = old.deployment_id and n.slot = old.slot)
   )
   insert into refusals as known
     (deployment_id, invocation_id, slot, reason, count, body_bytes, source_address, created_at, request_id)
   select deployment_id, invocation_id, slot, reason, count, body_bytes, source_address, created_at, request_id
   from noted join present using (deployment_id)
   on conflict (deployment_id, slot) do update set count = known.count + excluded.count
     where known.slot <> known.invocation_id`,
);

const BEFORE = statement(
  'deployments.refusals_before',
  `select invocation_id as "invocationId", created_at as "createdAt", 'refused' as result, reason,
     body_bytes as "bodyBytes", source_address as "sourceAddress", '' as "sessionId", count, coalesce(request_id, '') as "requestId"
   from refusals where deployment_id = $1 and ($2::text is null or invocation_id < $2)
   order by invocation_id desc limit $3`,
);

/** Reads accepted invocations with an id smaller than `before` (empty: the newest), newest first. */
export type AcceptedInvocationReader = (before: string, limit: number) => Promise<Invocation[]>;

interface InvocationPage {
  caller: string;
  deploymentId: string;
  limit: number;
  cursor: string;
}

export type RefusalStore = ReturnType<typeof createRefusalStore>;

export function createRefusalStore(db: Database) {
  return {
    /** Repeats the transaction after a deadlock with another replica. */
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
          column((row) => row.requestId),
        ]),
      );
    },

    /** One page of refused and accepted invocations, newest first. */
    async invocations(page: InvocationPage, readAccepted: AcceptedInvocationReader, options?: ReadOptions) {
      const scope: CursorScope = ['invocations', page.caller, page.deploymentId];
      const before = decodeIdCursor('inv', scope, page.cursor);
      const limit = page.limit + 1;
      const [accepted, refused] = await Promise.all([
        readAccepted(before ?? '', limit),
        db.rows<Invocation>(BEFORE, [page.deploymentId, before ?? null, limit], options),
      ]);
      return pageOf(mergeNewestFirst(accepted, refused), page.limit, scope, (row) => row.invocationId);
    },
  };
}
