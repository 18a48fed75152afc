import { type Database, statement } from '../../../lib/db/database.ts';

/** From one owner to the next: how many turns each of them has does not matter. */
const AT_WORK = statement(
  'sessions.owners_at_work',
  `with recursive at_work as (
     (select owner_id from turns where finished_at is null and owner_id > $1 order by owner_id limit 1)
     union all
     select (select t.owner_id from turns t where t.finished_at is null and t.owner_id > a.owner_id
             order by t.owner_id limit 1)
     from at_work a where a.owner_id is not null
   )
   select owner_id as "ownerId" from at_work where owner_id is not null limit $2`,
);

const UNFINISHED = statement(
  'sessions.unfinished_of_owners',
  `select distinct session_id as "sessionId" from (
     select session_id from turns where owner_id = any ($1::text[]) and finished_at is null limit $2
   ) unfinished`,
);

export type Owners = ReturnType<typeof createOwners>;

/** Whose work is under way. */
export function createOwners(db: Database) {
  return {
    /** Those who have turns that are not finished, by id, after one of them. */
    async atWork(afterId: string, limit: number): Promise<string[]> {
      const rows = await db.rows<{ ownerId: string }>(AT_WORK, [afterId, limit]);
      return rows.map(({ ownerId }) => ownerId);
    },

    /** Sessions of these owners with turns that are not finished. */
    async unfinished(ownerIds: readonly string[], limit: number): Promise<string[]> {
      const rows = await db.rows<{ sessionId: string }>(UNFINISHED, [ownerIds, limit]);
      return rows.map(({ sessionId }) => sessionId);
    },
  };
}
