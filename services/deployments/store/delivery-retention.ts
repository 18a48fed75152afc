import { type Database, type Statement, statement } from '../../../lib/db/database.ts';
import { idsCreatedBetween } from '../../../lib/ids.ts';

const BATCH = 1_000;

/** A payload with files is erased when its event is handled. The index deliveries_with_large_payload has the condition. */
const ERASE_LARGE = statement(
  'deliveries.erase_large',
  `update deliveries set payload = null where delivery_id in (
     select delivery_id from deliveries where payload is not null and result <> 'pending' and size > 65536
     order by delivery_id limit ${BATCH} for update skip locked)`,
);

/** The key is forgotten as well: some products use their ids again after weeks. */
const ERASE_OLD = statement(
  'deliveries.erase_old',
  `update deliveries set payload = null, dedupe_key = '^' || delivery_id where delivery_id in (
     select delivery_id from deliveries
     where created_at < $1 and left(dedupe_key, 1) not in ('~', '^') and result <> 'pending'
     order by created_at limit ${BATCH} for update skip locked)`,
);

/** Ids grow with their creation, so the primary key finds the oldest ones. */
const DELETE = statement(
  'deliveries.sweep',
  `delete from deliveries where delivery_id in (
     select delivery_id from deliveries where delivery_id < $1 and created_at < $2 and result <> 'pending'
     order by delivery_id limit ${BATCH} for update skip locked)`,
);

export type DeliveryRetentionStore = ReturnType<typeof createDeliveryRetentionStore>;

/** Each function changes one batch and returns whether there can be more. */
export function createDeliveryRetentionStore(db: Database) {
  const inBatch = async (query: Statement, values: readonly unknown[]): Promise<boolean> =>
    (await db.change(query, values)) === BATCH;

  return {
    eraseLargePayloads: (): Promise<boolean> => inBatch(ERASE_LARGE, []),
    erasePayloadsBefore: (time: Date): Promise<boolean> => inBatch(ERASE_OLD, [time]),
    deleteBefore: (time: Date): Promise<boolean> =>
      inBatch(DELETE, [idsCreatedBetween('dlv', undefined, time).before ?? '', time]),
  };
}
