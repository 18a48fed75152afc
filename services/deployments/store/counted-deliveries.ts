import { type DatabaseSession, statement } from '../../../lib/db/database.ts';

/** A row that stands for one or more events that are not for the agent. Its members are those of the first event. */
export interface CountedDelivery {
  deliveryId: string;
  deploymentId: string;
  /** The delivery id; or minute, result and reason when the row stands for several events. */
  slot: string;
  kind: string;
  result: string;
  reason: string;
  conversation: string;
  senderTeam: string;
  senderId: string;
  senderName: string;
  size: number;
  sourceAddress: string;
  traceparent: string;
  count: number;
  createdAt: Date;
}

/** Rows that are kept per channel. */
const MAX_ROWS = 1_000;

/** Begins the key of a counted row. Keys of products begin with a letter. */
export const COUNTED_PREFIX = '~';

/**
 * Adds rows and deletes the oldest ones. A row that is written again, because the result of the first write was lost, changes
 * nothing; only the count of a row for several events increases.
 */
const ADD = statement(
  'deliveries.count',
  `with
   noted as (
     select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                          $9::text[], $10::text[], $11::bigint[], $12::text[], $13::text[], $14::integer[],
                          $15::timestamptz[])
       as i (delivery_id, deployment_id, slot, kind, result, reason, conversation, sender_team, sender_id, sender_name,
             size, source_address, traceparent, count, created_at)
   ),
   present as (
     select deployment_id, owner_id from channels where deployment_id = any($2) order by deployment_id for key share
   ),
   pruned as (
     delete from deliveries old using (select deployment_id, count(*) as rows from noted group by 1) as fresh
     where old.deployment_id = fresh.deployment_id and left(old.dedupe_key, 1) = '${COUNTED_PREFIX}'
       and old.delivery_id <= (
         select delivery_id from deliveries
         where deployment_id = fresh.deployment_id and left(dedupe_key, 1) = '${COUNTED_PREFIX}'
         order by delivery_id desc offset greatest(${MAX_ROWS} - fresh.rows, 0) limit 1
       )
       and not exists (select from noted n
                       where n.deployment_id = old.deployment_id and '${COUNTED_PREFIX}' || n.slot = old.dedupe_key)
   )
   insert into deliveries as known
     (delivery_id, deployment_id, owner_id, dedupe_key, kind, result, reason, conversation, sender_team, sender_id,
      sender_name, size, source_address, traceparent, count, created_at, finished_at)
   select n.delivery_id, deployment_id, p.owner_id, '${COUNTED_PREFIX}' || n.slot, n.kind, n.result, nullif(n.reason, ''),
     nullif(n.conversation, ''), n.sender_team, nullif(n.sender_id, ''), n.sender_name, n.size, n.source_address,
     n.traceparent, n.count, n.created_at, n.created_at
   from noted n join present p using (deployment_id)
   on conflict (deployment_id, dedupe_key) do update set count = known.count + excluded.count
     where known.dedupe_key <> '${COUNTED_PREFIX}' || known.delivery_id`,
);

export async function countDeliveries(tx: DatabaseSession, rows: readonly CountedDelivery[]): Promise<void> {
  const column = <Value>(pick: (row: CountedDelivery) => Value) => rows.map(pick);
  await tx.change(ADD, [
    column((row) => row.deliveryId),
    column((row) => row.deploymentId),
    column((row) => row.slot),
    column((row) => row.kind),
    column((row) => row.result),
    column((row) => row.reason),
    column((row) => row.conversation),
    column((row) => row.senderTeam),
    column((row) => row.senderId),
    column((row) => row.senderName),
    column((row) => row.size),
    column((row) => row.sourceAddress),
    column((row) => row.traceparent),
    column((row) => row.count),
    column((row) => row.createdAt),
  ]);
}
