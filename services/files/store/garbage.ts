import { type Database, statement } from '../../../lib/db/database.ts';

const BATCH = 500;

/** Those that somebody uses at this moment are left for the next time. */
const TO_CHECK = statement(
  'files.contents_to_check',
  `select content_id as "contentId", doomed_at as "doomedAt" from contents
   where check_at <= $1 and deleting_at is null order by check_at limit ${BATCH} for update skip locked`,
);

/** Asked once the contents are locked: whoever needs one locks it, too, before that can be seen. */
const NEEDED = statement(
  'files.needed_contents',
  `select asked.content_id as "contentId" from unnest($1::text[]) as asked (content_id)
   where exists (select 1 from entries e where e.content_id = asked.content_id)`,
);

const KEEP = statement(
  'files.keep_contents',
  'update contents set check_at = null, doomed_at = null where content_id = any ($1::text[])',
);

const DOOM = statement(
  'files.doom_contents',
  'update contents set doomed_at = $2, check_at = $3 where content_id = any ($1::text[])',
);

const GIVE_UP = statement(
  'files.give_up_contents',
  'update contents set deleting_at = $2, check_at = null where content_id = any ($1::text[])',
);

const TO_DELETE = statement(
  'files.contents_to_delete',
  `select content_id as "contentId", object_key as "objectKey" from contents
   where deleting_at is not null order by deleting_at limit ${BATCH}`,
);

const DELETED = statement(
  'files.deleted_contents',
  `with gone as (
     delete from contents where content_id = any ($1::text[]) and deleting_at is not null returning owner_id, size
   ),
   held as (
     select o.owner_id from owners o
     where o.owner_id in (select owner_id from gone) order by o.owner_id for update
   )
   update owners o set bytes = o.bytes - g.bytes
   from (select owner_id, sum(size) as bytes from gone group by owner_id) g, held
   where o.owner_id = g.owner_id and held.owner_id = g.owner_id`,
);

const OF_KEYS = statement(
  'files.objects_in_use',
  'select object_key as "objectKey" from contents where object_key = any ($1::text[])',
);

/** $1 not looked at since, $2 now. */
const TO_SCRUB = statement(
  'files.content_to_scrub',
  `update contents set scrubbed_at = $2 where content_id = (
     select content_id from contents where scrubbed_at < $1 and deleting_at is null
     order by scrubbed_at limit 1 for update skip locked)
   returning content_id as "contentId", size, sha256, object_key as "objectKey", checks`,
);

const NOT_SCRUBBED = statement(
  'files.not_scrubbed',
  `update contents set scrubbed_at = '-infinity' where content_id = $1`,
);

export type Garbage = ReturnType<typeof createGarbage>;

/** Contents that nothing needs go in two steps, with a grace between them. */
export function createGarbage(db: Database) {
  return {
    /** Looks at a bounded number of contents. Returns how many. */
    check: (now: Date, graceMs: number): Promise<number> =>
      db.transaction(async (tx) => {
        const found = await tx.rows<{ contentId: string; doomedAt: Date | null }>(TO_CHECK, [now]);
        if (found.length === 0) return 0;
        const ids = found.map(({ contentId }) => contentId);
        const rows = await tx.rows<{ contentId: string }>(NEEDED, [ids]);
        const needed = new Set(rows.map(({ contentId }) => contentId));
        const others = found.filter(({ contentId }) => !needed.has(contentId));
        const idsOf = (some: typeof found) => some.map(({ contentId }) => contentId);
        const again = new Date(now.getTime() + graceMs);
        await tx.change(KEEP, [[...needed]]);
        await tx.change(DOOM, [idsOf(others.filter(({ doomedAt }) => doomedAt === null)), now, again]);
        await tx.change(GIVE_UP, [idsOf(others.filter(({ doomedAt }) => doomedAt !== null)), now]);
        return found.length;
      }),

    /** Objects that nobody may use any more. */
    toDelete: () => db.rows<{ contentId: string; objectKey: string }>(TO_DELETE),
    deleted: (contentIds: readonly string[]) => db.change(DELETED, [contentIds]),

    async inUse(objectKeys: readonly string[]): Promise<Set<string>> {
      const rows = await db.rows<{ objectKey: string }>(OF_KEYS, [objectKeys]);
      return new Set(rows.map(({ objectKey }) => objectKey));
    },

    /** One that nobody has looked at since; it counts as looked at from now on. */
    async toScrub(before: Date, now: Date) {
      const [row] = await db.rows<{
        contentId: string;
        size: number;
        sha256: string;
        objectKey: string;
        checks: Buffer;
      }>(TO_SCRUB, [before, now]);
      return row;
    },

    /** It is the next one. */
    notScrubbed: (contentId: string) => db.change(NOT_SCRUBBED, [contentId]),
  };
}
