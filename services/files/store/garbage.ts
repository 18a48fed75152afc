import { type Database, statement } from '../../../lib/db/database.ts';

const BATCH = 500;

/** Skips contents that a running change has locked; the next pass checks them. */
const TO_CHECK = statement(
  'files.contents_to_check',
  `select content_id as "contentId", doomed_at as "doomedAt" from contents
   where check_at <= $1 and deleting_at is null order by check_at limit ${BATCH} for update skip locked`,
);

/** Runs after the contents are locked: a writer locks its contents before its rows become visible. */
const REFERENCED = statement(
  'files.needed_contents',
  `select requested.content_id as "contentId" from unnest($1::text[]) as requested (content_id)
   where exists (select 1 from entries e where e.content_id = requested.content_id)
     or exists (select 1 from parts p where p.content_id = requested.content_id)
     or exists (select 1 from uploads u where u.content_id = requested.content_id)`,
);

const KEEP = statement(
  'files.keep_contents',
  'update contents set check_at = null, doomed_at = null where content_id = any ($1::text[])',
);

const MARK_UNREFERENCED = statement(
  'files.doom_contents',
  'update contents set doomed_at = $2, check_at = $3 where content_id = any ($1::text[])',
);

const MARK_FOR_DELETION = statement(
  'files.give_up_contents',
  'update contents set deleting_at = $2, check_at = null where content_id = any ($1::text[])',
);

const TO_DELETE = statement(
  'files.contents_to_delete',
  `select content_id as "contentId", object_key as "objectKey" from contents
   where deleting_at is not null order by deleting_at limit ${BATCH}`,
);

const POSTPONE_DELETION = statement(
  'files.postpone_deletion',
  'update contents set deleting_at = $2 where content_id = any ($1::text[]) and deleting_at is not null',
);

const DELETED = statement(
  'files.deleted_contents',
  `with gone as (
     delete from contents where content_id = any ($1::text[]) and deleting_at is not null returning owner_id, size
   ),
   totals as (
     select o.owner_id from owners o
     where o.owner_id in (select owner_id from gone) order by o.owner_id for update
   )
   update owners o set bytes = o.bytes - g.bytes
   from (select owner_id, sum(size) as bytes from gone group by owner_id) g, totals
   where o.owner_id = g.owner_id and totals.owner_id = g.owner_id`,
);

const OF_KEYS = statement(
  'files.objects_in_use',
  'select object_key as "objectKey" from contents where object_key = any ($1::text[])',
);

/** $1 is the latest time of the previous check, $2 the current time. */
const TO_SCRUB = statement(
  'files.content_to_scrub',
  `update contents set scrubbed_at = $2 where content_id = (
     select content_id from contents where scrubbed_at < $1 and deleting_at is null
     order by scrubbed_at limit 1 for update skip locked)
   returning content_id as "contentId", size, sha256, object_key as "objectKey", checks`,
);

const SCRUB_AGAIN = statement(
  'files.not_scrubbed',
  'update contents set scrubbed_at = $2 where content_id = $1',
);

export type GarbageStore = ReturnType<typeof createGarbageStore>;

/** Unreferenced contents are removed in two steps, with a grace period between them. */
export function createGarbageStore(db: Database) {
  return {
    /** Checks a bounded number of contents for references. Returns that number. */
    checkContents: (now: Date, graceMs: number): Promise<number> =>
      db.transaction(async (tx) => {
        const found = await tx.rows<{ contentId: string; doomedAt: Date | null }>(TO_CHECK, [now]);
        if (found.length === 0) return 0;
        const ids = found.map(({ contentId }) => contentId);
        const rows = await tx.rows<{ contentId: string }>(REFERENCED, [ids]);
        const referenced = new Set(rows.map(({ contentId }) => contentId));
        const unreferenced = found.filter(({ contentId }) => !referenced.has(contentId));
        const idsOf = (contents: typeof found) => contents.map(({ contentId }) => contentId);
        const again = new Date(now.getTime() + graceMs);
        await tx.change(KEEP, [[...referenced]]);
        await tx.change(MARK_UNREFERENCED, [
          idsOf(unreferenced.filter(({ doomedAt }) => doomedAt === null)),
          now,
          again,
        ]);
        await tx.change(MARK_FOR_DELETION, [
          idsOf(unreferenced.filter(({ doomedAt }) => doomedAt !== null)),
          now,
        ]);
        return found.length;
      }),

    /** Contents whose objects can be deleted. */
    contentsToDelete: () => db.rows<{ contentId: string; objectKey: string }>(TO_DELETE),
    /** The contents are deleted after those that were marked before `now`. */
    postponeDeletion: (contentIds: readonly string[], now: Date) =>
      db.change(POSTPONE_DELETION, [contentIds, now]),
    removeDeleted: (contentIds: readonly string[]) => db.change(DELETED, [contentIds]),

    async objectsInUse(objectKeys: readonly string[]): Promise<Set<string>> {
      const rows = await db.rows<{ objectKey: string }>(OF_KEYS, [objectKeys]);
      return new Set(rows.map(({ objectKey }) => objectKey));
    },

    /** The content with the oldest check before `before`. It counts as checked from now on. */
    async nextToScrub(before: Date, now: Date) {
      const [row] = await db.rows<{
        contentId: string;
        size: number;
        sha256: string;
        objectKey: string;
        checks: Buffer;
      }>(TO_SCRUB, [before, now]);
      return row;
    },

    /** The content counts as checked at this time: its last check has failed for another reason than its bytes. */
    scrubAgain: (contentId: string, checkedAt: Date) => db.change(SCRUB_AGAIN, [contentId, checkedAt]),
  };
}
