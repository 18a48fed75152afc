import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { lockContents, type StoredContent, scheduleContentCheck } from './contents.ts';
import { expectSession } from './unconfirmed-sessions.ts';
import { extendUploads } from './uploads.ts';

/** A part of a message, with the content that holds its bytes. */
export interface PartRow {
  contentId: string;
  /** Lowercase hexadecimal. */
  sha256: string;
  size: number;
  mediaType: string;
  /** Empty for none. */
  name: string;
}

interface NewParts {
  /** ses_… */
  sessionId: string;
  /** usr_… */
  ownerId: string;
  parts: readonly PartRow[];
  /** The uploads that the parts come from. */
  uploadIds: readonly string[];
  now: Date;
  /** The time at which the session and its messages must exist. */
  checkAt: Date;
}

/** Equal bytes are one part of the session. A part that a message refers to stays confirmed. */
const INSERT = statement(
  'files.insert_parts',
  `insert into parts (session_id, owner_id, sha256, content_id, size, media_type, name, created_at, unconfirmed_at)
   select distinct on (sha256) $1, $2, sha256, content_id, size, media_type, name, $8::timestamptz, $8::timestamptz
   from unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[]) with ordinality
     as made (sha256, content_id, size, media_type, name, number)
   order by sha256, number
   on conflict (session_id, sha256) do update set unconfirmed_at = excluded.unconfirmed_at
     where parts.unconfirmed_at is not null`,
);

const BY_DIGEST = statement(
  'files.part',
  `select c.content_id as "contentId", c.size, c.sha256, c.object_key as "objectKey", c.checks,
     p.media_type as "mediaType", p.name
   from parts p join contents c on c.content_id = p.content_id
   where p.session_id = $1 and p.sha256 = $2`,
);

const BY_DIGESTS = statement(
  'files.parts_of_session',
  `select content_id as "contentId", size, sha256, media_type as "mediaType", name
   from parts where session_id = $1 and sha256 = any ($2::text[])`,
);

const COPY = statement(
  'files.copy_parts',
  `insert into parts (session_id, owner_id, sha256, content_id, size, media_type, name, created_at, unconfirmed_at)
   select $2, owner_id, sha256, content_id, size, media_type, name, created_at,
     case when unconfirmed_at is not null then $3::timestamptz end
   from parts where session_id = $1 order by sha256
   on conflict (session_id, sha256) do nothing`,
);

/** One answer of the sessions service covers so many parts. */
const CHECKED_PARTS = 1_000;

const UNCONFIRMED = statement(
  'files.unconfirmed_parts',
  `select sha256 from parts where session_id = $1 and unconfirmed_at <= $2 order by sha256 limit ${CHECKED_PARTS}`,
);

const CONFIRM = statement(
  'files.confirm_parts',
  `update parts set unconfirmed_at = null where (session_id, sha256) in (
     select session_id, sha256 from parts
     where session_id = $1 and sha256 = any ($2::text[]) and unconfirmed_at <= $3
     order by sha256 for update)`,
);

/** A part that was stored again meanwhile is left as it is. */
const DELETE_UNUSED = statement(
  'files.delete_unused_parts',
  `delete from parts where (session_id, sha256) in (
     select session_id, sha256 from parts
     where session_id = $1 and sha256 = any ($2::text[]) and unconfirmed_at <= $3
     order by sha256 for update)
   returning content_id as "contentId"`,
);

const DELETE = statement(
  'files.delete_parts',
  'delete from parts where session_id = $1 returning content_id as "contentId"',
);

export type Parts = ReturnType<typeof createParts>;

export function createParts(db: Database) {
  return {
    async part(
      sessionId: string,
      sha256: string,
      options?: ReadOptions,
    ): Promise<(StoredContent & PartRow) | undefined> {
      return (await db.rows<StoredContent & PartRow>(BY_DIGEST, [sessionId, sha256], options))[0];
    },

    /** The parts of a session with these digests, by digest. */
    async partsOf(
      sessionId: string,
      digests: readonly string[],
      options?: ReadOptions,
    ): Promise<Map<string, PartRow>> {
      const rows =
        digests.length === 0 ? [] : await db.rows<PartRow>(BY_DIGESTS, [sessionId, digests], options);
      return new Map(rows.map((row) => [row.sha256, row]));
    },

    /** Parts of a session that were stored at this time or before, and that no message is known to refer to. */
    async unconfirmed(sessionId: string, storedBy: Date): Promise<string[]> {
      return (await db.rows<{ sha256: string }>(UNCONFIRMED, [sessionId, storedBy])).map(
        ({ sha256 }) => sha256,
      );
    },

    /** Confirms the parts that messages refer to, and deletes the unused ones, unless they were stored again meanwhile. */
    confirm: (
      sessionId: string,
      { used, unused, storedBy, now }: { used: string[]; unused: string[]; storedBy: Date; now: Date },
    ): Promise<void> =>
      db.transaction(async (tx) => {
        await tx.change(CONFIRM, [sessionId, used, storedBy]);
        const rows = await tx.rows<{ contentId: string }>(DELETE_UNUSED, [sessionId, unused, storedBy]);
        await scheduleContentCheck(tx, [...new Set(rows.map(({ contentId }) => contentId))], now);
      }),

    /** Adds parts to a session. Refused with FILE_NOT_FOUND if a content has been erased meanwhile. */
    add: (
      { sessionId, ownerId, parts, uploadIds, now, checkAt }: NewParts,
      options?: WriteOptions,
    ): Promise<void> =>
      db.transaction(async (tx) => {
        await lockContents(tx, ownerId, [...new Set(parts.map(({ contentId }) => contentId))]);
        const column = <Name extends keyof PartRow>(name: Name) => parts.map((part) => part[name]);
        const columns = [column('sha256'), column('contentId'), column('size'), column('mediaType')];
        await tx.change(INSERT, [sessionId, ownerId, ...columns, column('name'), now]);
        await extendUploads(tx, uploadIds, now);
        await expectSession(tx, sessionId, checkAt);
      }, options),
  };
}

/** Lets a fork read all parts of the session that it was made from. */
export async function copyParts(
  tx: DatabaseSession,
  fromSessionId: string,
  toSessionId: string,
  now: Date,
): Promise<void> {
  await tx.change(COPY, [fromSessionId, toSessionId, now]);
}

export async function deleteParts(tx: DatabaseSession, sessionId: string, now: Date): Promise<void> {
  const rows = await tx.rows<{ contentId: string }>(DELETE, [sessionId]);
  const contents = [...new Set(rows.map(({ contentId }) => contentId))];
  await scheduleContentCheck(tx, contents, now);
}
