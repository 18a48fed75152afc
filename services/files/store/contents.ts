import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import { checkOwnerQuota } from '../domain/owner-quota.ts';

/** A stored content: the object that holds its bytes, and its checksums. */
export interface StoredContent {
  /** cnt_… */
  contentId: string;
  size: number;
  /** Lowercase hexadecimal. */
  sha256: string;
  objectKey: string;
  /** The CRC-32 of each MiB, big-endian. */
  checks: Buffer;
}

const CONTENT_COLUMNS = `content_id as "contentId", size, sha256, object_key as "objectKey", checks`;

const BY_ID = statement('files.content', `select ${CONTENT_COLUMNS} from contents where content_id = $1`);
const BY_IDS = statement(
  'files.contents',
  `select ${CONTENT_COLUMNS} from contents where content_id = any ($1::text[])`,
);

/** Finds contents that the owner has stored already and protects them from garbage collection until $3. */
const EXISTING = statement(
  'files.known_contents',
  `update contents set check_at = $3, doomed_at = null
   where owner_id = $1 and sha256 = any ($2::text[]) and deleting_at is null and damaged_at is null
   returning content_id as "contentId", size, sha256`,
);

/**
 * On a conflict with a concurrent upload the existing object is kept, unless it is damaged; then the new object replaces
 * it. The owner's row is locked last, so a transaction that holds it waits for no other lock.
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

/** Runs before LOCK_FOR_USE and locks in id order, so that two changes that use the same contents cannot deadlock. */
const REVIVE = statement(
  'files.revive_contents',
  `update contents set doomed_at = null where content_id in (
     select content_id from contents
     where content_id = any ($2::text[]) and owner_id = $1 and doomed_at is not null and deleting_at is null
     order by content_id for update)`,
);

/** Keeps the contents from being deleted until the transaction has inserted the entries that use them. */
const LOCK_FOR_USE = statement(
  'files.hold_contents',
  `select content_id as "contentId", size, sha256 from contents
   where content_id = any ($2::text[]) and owner_id = $1 and deleting_at is null
   order by content_id for key share`,
);

const MARK_DAMAGED = statement(
  'files.damaged_content',
  `update contents set damaged_at = coalesce(damaged_at, $2)
   where content_id = $1 and object_key = $3 and deleting_at is null`,
);

const CHECK_CONTENTS = statement(
  'files.look_at_contents',
  `update contents set check_at = $2 where content_id in (
     select content_id from contents
     where content_id = any ($1::text[]) and deleting_at is null and (check_at is null or check_at > $2)
     order by content_id for update)`,
);

export type Contents = ReturnType<typeof createContents>;

export function createContents(db: Database) {
  return {
    async content(contentId: string, options?: ReadOptions): Promise<StoredContent | undefined> {
      return (await db.rows<StoredContent>(BY_ID, [contentId], options))[0];
    },

    async contents(
      contentIds: readonly string[],
      options?: ReadOptions,
    ): Promise<Map<string, StoredContent>> {
      const rows = contentIds.length === 0 ? [] : await db.rows<StoredContent>(BY_IDS, [contentIds], options);
      return new Map(rows.map((row) => [row.contentId, row]));
    },

    /** The owner's contents with one of these digests, by digest. They are kept at least until `checkAt`. */
    async existing(ownerId: string, digests: readonly string[], checkAt: Date, options?: WriteOptions) {
      const rows = await db
        .within(options ?? {})
        .rows<Pick<StoredContent, 'contentId' | 'size' | 'sha256'>>(EXISTING, [ownerId, digests, checkAt]);
      return new Map(rows.map((row) => [row.sha256, row]));
    },

    /** The stored bytes of an owner. */
    async usedBytes(ownerId: string, options?: ReadOptions): Promise<number> {
      return (await db.rows<{ bytes: number }>(USED, [ownerId], options))[0]?.bytes ?? 0;
    },

    /**
     * Adds contents and returns them by digest, each with the object that is in use: a concurrent upload may have added
     * the same content first. Refused with QUOTA_EXCEEDED when the owner would exceed `maxBytes`; nothing is added then.
     */
    async add(
      ownerId: string,
      written: readonly StoredContent[],
      { now, checkAt, maxBytes }: { now: Date; checkAt: Date; maxBytes: number | undefined },
      options?: WriteOptions,
    ): Promise<Map<string, AddedContent>> {
      if (written.length === 0) return new Map();
      const column = <Name extends keyof StoredContent>(name: Name) =>
        written.map((content) => content[name]);
      const columns = [column('contentId'), column('sha256'), column('size'), column('objectKey')];
      const values = [ownerId, ...columns, column('checks'), now, checkAt];
      const addTo = (session: DatabaseSession) => session.rows<AddedContent>(ADD, values);
      const rows =
        maxBytes === undefined
          ? await addTo(db.within(options ?? {}))
          : await db.transaction(async (tx) => {
              const added = await addTo(tx);
              checkOwnerQuota(added[0]?.ownerBytes ?? 0, maxBytes);
              return added;
            }, options);
      return new Map(rows.map((row) => [row.sha256, row]));
    },

    /** Returns false for a content that is being deleted or has another object by now, and leaves it unchanged. */
    async markDamaged({ contentId, objectKey }: StoredContent, now: Date): Promise<boolean> {
      return (await db.change(MARK_DAMAGED, [contentId, now, objectKey])) > 0;
    },
  };
}

interface AddedContent extends Omit<StoredContent, 'checks'> {
  /** The stored bytes of the owner after the insert; null if no content was new. */
  ownerBytes: number | null;
}

export type OwnedContents = Map<string, { size: number; sha256: string }>;

/**
 * Locks the contents that a change of this owner names, so that they cannot be deleted before the transaction ends.
 * Refused with FILE_NOT_FOUND.
 */
export async function lockContents(
  tx: DatabaseSession,
  ownerId: string,
  contentIds: readonly string[],
): Promise<OwnedContents> {
  if (contentIds.length === 0) return new Map();
  await tx.change(REVIVE, [ownerId, contentIds]);
  const rows = await tx.rows<{ contentId: string; size: number; sha256: string }>(LOCK_FOR_USE, [
    ownerId,
    contentIds,
  ]);
  const owned: OwnedContents = new Map(rows.map(({ contentId, ...content }) => [contentId, content]));
  for (const contentId of contentIds) {
    // A content of another user is reported like one that does not exist.
    if (!owned.has(contentId)) throw refuse('FILE_NOT_FOUND', `Unknown content \`${contentId}\`.`);
  }
  return owned;
}

/** Makes the garbage collection check whether anything still refers to the contents. */
export async function scheduleContentCheck(
  tx: DatabaseSession,
  contentIds: readonly string[],
  now: Date,
): Promise<void> {
  if (contentIds.length > 0) await tx.change(CHECK_CONTENTS, [contentIds, now]);
}
