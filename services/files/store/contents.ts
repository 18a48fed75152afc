import {
  type Database,
  type ReadOptions,
  type Session,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import { checkUsage } from '../domain/usage.ts';

/** The bytes of a file: where they are, and how they are recognised. */
export interface Content {
  /** cnt_… */
  contentId: string;
  size: number;
  /** Lowercase hexadecimal. */
  sha256: string;
  objectKey: string;
  /** A CRC-32 of each MiB, big-endian. */
  checks: Buffer;
}

/** What has been written to the object store, and waits for a row. */
export interface Written extends Content {}

const CONTENT = `content_id as "contentId", size, sha256, object_key as "objectKey", checks`;

const BY_ID = statement('files.content', `select ${CONTENT} from contents where content_id = $1`);
const BY_IDS = statement(
  'files.contents',
  `select ${CONTENT} from contents where content_id = any ($1::text[])`,
);

/** Whoever says that bytes are there already says also that they are needed, for a while at least. */
const KNOWN = statement(
  'files.known_contents',
  `update contents set check_at = $3, doomed_at = null
   where owner_id = $1 and sha256 = any ($2::text[]) and deleting_at is null and damaged_at is null
   returning content_id as "contentId", size, sha256`,
);

/**
 * When somebody else was faster, theirs counts; but a damaged object is replaced by the new one. The row of the owner
 * is locked last: whoever holds it waits for nobody.
 */
const ADD = statement(
  'files.add_contents',
  `with added as (
     insert into contents as known (content_id, owner_id, sha256, size, object_key, checks, created_at, check_at, scrubbed_at)
     select content_id, $1, sha256, size, object_key, checks, $7, $8, $7
     from unnest($2::text[], $3::text[], $4::bigint[], $5::text[], $6::bytea[])
       as added (content_id, sha256, size, object_key, checks)
     order by sha256
     on conflict (owner_id, sha256) where deleting_at is null do update set
       object_key = case when known.damaged_at is null then known.object_key else excluded.object_key end,
       damaged_at = null, doomed_at = null, check_at = excluded.check_at
     returning content_id, object_key, sha256, size, xmax = 0 as is_new
   ),
   counted as (
     insert into owners (owner_id, bytes)
     select $1, sum(size) from added where is_new having count(*) > 0
     on conflict (owner_id) do update set bytes = owners.bytes + excluded.bytes
     returning bytes
   )
   select content_id as "contentId", object_key as "objectKey", sha256, size,
     (select bytes from counted) as "ownerBytes"
   from added`,
);

const USED = statement('files.used_bytes', 'select bytes from owners where owner_id = $1');

/** First, and in one order: two that need the same ones must not wait for each other. */
const REVIVE = statement(
  'files.revive_contents',
  `update contents set doomed_at = null where content_id in (
     select content_id from contents
     where content_id = any ($2::text[]) and owner_id = $1 and doomed_at is not null and deleting_at is null
     order by content_id for update)`,
);

/** Held until the entries that need them are there. */
const HOLD = statement(
  'files.hold_contents',
  `select content_id as "contentId", size, sha256 from contents
   where content_id = any ($2::text[]) and owner_id = $1 and deleting_at is null
   order by content_id for key share`,
);

const DAMAGED = statement(
  'files.damaged_content',
  `update contents set damaged_at = coalesce(damaged_at, $2)
   where content_id = $1 and object_key = $3 and deleting_at is null`,
);

export type Contents = ReturnType<typeof createContents>;

export function createContents(db: Database) {
  return {
    async content(contentId: string, options?: ReadOptions): Promise<Content | undefined> {
      return (await db.rows<Content>(BY_ID, [contentId], options))[0];
    },

    async contents(contentIds: readonly string[], options?: ReadOptions): Promise<Map<string, Content>> {
      const rows = contentIds.length === 0 ? [] : await db.rows<Content>(BY_IDS, [contentIds], options);
      return new Map(rows.map((row) => [row.contentId, row]));
    },

    /** Those of an owner's that have one of these digests. They are kept until `checkAt` at least. */
    async known(ownerId: string, digests: readonly string[], checkAt: Date, options?: WriteOptions) {
      const rows = await db
        .within(options ?? {})
        .rows<Pick<Content, 'contentId' | 'size' | 'sha256'>>(KNOWN, [ownerId, digests, checkAt]);
      return new Map(rows.map((row) => [row.sha256, row]));
    },

    /** Of all bytes that are kept for an owner. */
    async used(ownerId: string, options?: ReadOptions): Promise<number> {
      return (await db.rows<{ bytes: number }>(USED, [ownerId], options))[0]?.bytes ?? 0;
    },

    /**
     * What is there now, by its digest, with the object that is used: that of somebody else, if they were faster. Refused
     * with QUOTA_EXCEEDED when the owner would have more than `maxBytes`; nothing is added then.
     */
    async add(
      ownerId: string,
      written: readonly Written[],
      { now, checkAt, maxBytes }: { now: Date; checkAt: Date; maxBytes: number | undefined },
      options?: WriteOptions,
    ): Promise<Map<string, Added>> {
      if (written.length === 0) return new Map();
      const column = <Name extends keyof Written>(name: Name) => written.map((one) => one[name]);
      const columns = [column('contentId'), column('sha256'), column('size'), column('objectKey')];
      const values = [ownerId, ...columns, column('checks'), now, checkAt];
      const addTo = (session: Session) => session.rows<Added>(ADD, values);
      const rows =
        maxBytes === undefined
          ? await addTo(db.within(options ?? {}))
          : await db.transaction(async (tx) => {
              const added = await addTo(tx);
              checkUsage(added[0]?.ownerBytes ?? 0, maxBytes);
              return added;
            }, options);
      return new Map(rows.map((row) => [row.sha256, row]));
    },

    /** False for one that is being deleted, or has another object by now: nothing is wrong with it. */
    async damaged({ contentId, objectKey }: Content, now: Date): Promise<boolean> {
      return (await db.change(DAMAGED, [contentId, now, objectKey])) > 0;
    },
  };
}

export interface Added extends Omit<Content, 'checks'> {
  /** Of the owner, all together; null when nothing was new. */
  ownerBytes: number | null;
}

export type Held = Map<string, { size: number; sha256: string }>;

/** What an owner may name in a change; nobody takes it away before the transaction is over. */
export async function holdContents(
  tx: Session,
  ownerId: string,
  contentIds: readonly string[],
): Promise<Held> {
  if (contentIds.length === 0) return new Map();
  await tx.change(REVIVE, [ownerId, contentIds]);
  const rows = await tx.rows<{ contentId: string; size: number; sha256: string }>(HOLD, [
    ownerId,
    contentIds,
  ]);
  const held: Held = new Map(rows.map(({ contentId, ...facts }) => [contentId, facts]));
  for (const contentId of contentIds) {
    // Somebody else's looks like one that is not there.
    if (!held.has(contentId)) throw refuse('FILE_NOT_FOUND', `there is no content ${contentId}`);
  }
  return held;
}
