import { type Database, statement } from '../../../lib/db/database.ts';

/** Skips from one owner to the next in the index, so that the cost does not depend on the turns of each owner. */
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

export type OwnerQueries = ReturnType<typeof createOwnerQueries>;

/** Finds owners and their sessions by unfinished turns. */
export function createOwnerQueries(db: Database) {
  return {
    /** Ids of owners with unfinished turns, in order, after `afterId`. */
    async withUnfinishedTurns(afterId: string, limit: number): Promise<string[]> {
      const rows = await db.rows<{ ownerId: string }>(AT_WORK, [afterId, limit]);
      return rows.map(({ ownerId }) => ownerId);
    },

    /** Ids of sessions of these owners with unfinished turns. */
    async unfinishedSessions(ownerIds: readonly string[], limit: number): Promise<string[]> {
      const rows = await db.rows<{ sessionId: string }>(UNFINISHED, [ownerIds, limit]);
      return rows.map(({ sessionId }) => sessionId);
    },
  };
}
