import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { type IdempotencyKey, type IdempotentAnswer, runOnce } from '../../../lib/db/idempotency.ts';
import { isId } from '../../../lib/ids.ts';
import { lockContents, scheduleContentCheck } from './contents.ts';

export interface UploadRow {
  /** upl_… */
  uploadId: string;
  contentId: string;
  /** Lowercase hexadecimal. */
  sha256: string;
  size: number;
  mediaType: string;
  /** Empty for none. */
  name: string;
  expiresAt: Date;
}

/** An upload that no request uses for this long is deleted. */
export const UPLOAD_LIFETIME_MS = 24 * 60 * 60 * 1_000;

const EXPIRY_BATCH = 500;

const INSERT = statement(
  'files.insert_upload',
  `insert into uploads (upload_id, owner_id, content_id, sha256, size, media_type, name, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

const OF_OWNER = statement(
  'files.uploads_of_owner',
  `select upload_id as "uploadId", content_id as "contentId", sha256, size, media_type as "mediaType", name,
     expires_at as "expiresAt"
   from uploads where upload_id = any ($1::text[]) and owner_id = $2 and expires_at > $3`,
);

const EXTEND = statement(
  'files.extend_uploads',
  `update uploads set expires_at = $2 where upload_id in (
     select upload_id from uploads where upload_id = any ($1::text[]) and expires_at < $2
     order by upload_id for update)`,
);

const DELETE_EXPIRED = statement(
  'files.delete_expired_uploads',
  `delete from uploads where upload_id in (
     select upload_id from uploads where expires_at <= $1 order by expires_at limit ${EXPIRY_BATCH}
     for update skip locked)
   returning content_id as "contentId"`,
);

export type Uploads = ReturnType<typeof createUploads>;

export function createUploads(db: Database) {
  return {
    /** The uploads of an owner that have not expired, by id. */
    async ofOwner(
      ownerId: string,
      uploadIds: readonly string[],
      now: Date,
      options?: ReadOptions,
    ): Promise<Map<string, UploadRow>> {
      const wellFormed = uploadIds.filter((uploadId) => isId('upl', uploadId));
      if (wellFormed.length === 0) return new Map();
      const rows = await db.rows<UploadRow>(OF_OWNER, [wellFormed, ownerId, now], options);
      return new Map(rows.map((row) => [row.uploadId, row]));
    },

    /** Adds an upload, at most once per key. Refused with FILE_NOT_FOUND if its content has been erased meanwhile. */
    create: (
      ownerId: string,
      upload: UploadRow,
      key: IdempotencyKey,
      encodedAnswer: Uint8Array,
      options?: WriteOptions,
    ): Promise<IdempotentAnswer> =>
      runOnce(
        db,
        key,
        async (tx) => {
          const { uploadId, contentId, sha256, size, mediaType, name, expiresAt } = upload;
          await lockContents(tx, ownerId, [contentId]);
          const row = [uploadId, ownerId, contentId, sha256, size, mediaType, name, key.now, expiresAt];
          await tx.change(INSERT, row);
          return encodedAnswer;
        },
        options,
      ),

    /** Deletes a bounded number of expired uploads. Returns whether more are left. */
    deleteExpired: (now: Date): Promise<boolean> =>
      db.transaction(async (tx) => {
        const rows = await tx.rows<{ contentId: string }>(DELETE_EXPIRED, [now]);
        const contents = [...new Set(rows.map(({ contentId }) => contentId))];
        await scheduleContentCheck(tx, contents, now);
        return rows.length === EXPIRY_BATCH;
      }),
  };
}

/** Keeps uploads for their whole lifetime after a use, so that the request can be repeated. */
export async function extendUploads(
  tx: DatabaseSession,
  uploadIds: readonly string[],
  now: Date,
): Promise<void> {
  if (uploadIds.length > 0)
    await tx.change(EXTEND, [uploadIds, new Date(now.getTime() + UPLOAD_LIFETIME_MS)]);
}
