import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';

/** A stored change of a path. */
export interface ChangeRow {
  seq: number;
  workspaceVersion: number;
  kind: 'created' | 'modified' | 'deleted';
  path: string;
  entryKind: string;
  size: number;
  sha256: string;
  executable: boolean;
  target: string;
  modifiedAt: Date;
  sessionId: string;
  userId: string;
  createdAt: Date;
  /** The change is part of an upload, which is one version. */
  upload: boolean;
}

/** The files of an upload. */
export interface UploadSummary {
  workspaceVersion: number;
  /** The first change of a file. */
  firstSeq: number;
  fileCount: number;
  bytes: number;
  /** The first files of the upload. */
  files: { path: string; size: number; sha256: string }[];
}

export interface PendingDelivery {
  workspaceId: string;
  sessionId: string;
  /** The last change that the session has; later ones are pending. */
  deliveredSeq: number;
  attempts: number;
}

const CHANGE = `seq, workspace_version as "workspaceVersion", kind, path, entry_kind as "entryKind", size, sha256,
  executable, target, modified_at as "modifiedAt", session_id as "sessionId", user_id as "userId",
  created_at as "createdAt", upload`;

const AFTER = statement(
  'files.changes_after',
  `select ${CHANGE} from changes where workspace_id = $1 and seq > $2 order by seq limit $3`,
);

const LISTED_FILES = 100;

const UPLOADS = statement(
  'files.uploads',
  `select version as "workspaceVersion", total.*, listed.files
   from unnest($2::bigint[]) as uploaded (version)
   cross join lateral (
     select min(seq) as "firstSeq", count(*) as "fileCount", sum(size)::bigint as bytes from changes
     where workspace_id = $1 and workspace_version = version and kind <> 'deleted' and entry_kind <> 'directory'
   ) total
   cross join lateral (
     select json_agg(json_build_object('path', path, 'size', size, 'sha256', sha256) order by seq) as files from (
       select seq, path, size, sha256 from changes
       where workspace_id = $1 and workspace_version = version and kind <> 'deleted' and entry_kind <> 'directory'
       order by seq limit ${LISTED_FILES}
     ) first
   ) listed`,
);

/** Changes after version $2, up to and including version $3. */
const PATHS_BETWEEN = statement(
  'files.changed_paths',
  `select path, bool_or(kind = 'deleted') as "wasDeleted" from changes
   where workspace_id = $1 and workspace_version > $2 and workspace_version <= $3 group by path`,
);

const DUE = statement(
  'files.due_deliveries',
  `select workspace_id as "workspaceId", session_id as "sessionId", told_seq as "deliveredSeq", attempts
   from deliveries where due_at <= $1 order by due_at limit $2`,
);

const BY_SESSION = statement(
  'files.delivery',
  `select workspace_id as "workspaceId", session_id as "sessionId", told_seq as "deliveredSeq", attempts
   from deliveries where workspace_id = $1 and session_id = $2`,
);

const LOCK = statement(
  'files.lock_delivery',
  'select told_seq as "deliveredSeq" from deliveries where workspace_id = $1 and session_id = $2 for update',
);

const HAS_MORE = statement(
  'files.more_changes',
  'select exists (select 1 from changes where workspace_id = $1 and seq > $2) as more',
);

const MARK_DELIVERED = statement(
  'files.told',
  `update deliveries set told_seq = greatest(told_seq, $3), due_at = $4, attempts = 0
   where workspace_id = $1 and session_id = $2`,
);

const DELETE_DELIVERY = statement(
  'files.delivered',
  'delete from deliveries where workspace_id = $1 and session_id = $2',
);

const POSTPONE = statement(
  'files.deliver_later',
  `update deliveries set due_at = $3, attempts = attempts + 1 where workspace_id = $1 and session_id = $2`,
);

/** The uploads that are these versions of a workspace. */
export async function uploadSummaries(
  db: Pick<DatabaseSession, 'rows'>,
  workspaceId: string,
  versions: readonly number[],
): Promise<UploadSummary[]> {
  const rows = await db.rows<Omit<UploadSummary, 'files'> & { files: string }>(UPLOADS, [
    workspaceId,
    versions,
  ]);
  return rows.map((row) => ({ ...row, files: JSON.parse(row.files) }));
}

export type ChangeFeed = ReturnType<typeof createChangeFeed>;

export function createChangeFeed(db: Database) {
  return {
    /** The changes after `seq`, in sequence order. */
    after: (workspaceId: string, seq: number, limit: number, options?: ReadOptions) =>
      db.rows<ChangeRow>(AFTER, [workspaceId, seq, limit], options),

    /** The uploads that are these versions. */
    uploads: (workspaceId: string, versions: readonly number[]) => uploadSummaries(db, workspaceId, versions),

    /** The paths that changed between two versions, in no particular order. */
    pathsBetween: (workspaceId: string, from: number, to: number, options?: ReadOptions) =>
      db.rows<{ path: string; wasDeleted: boolean }>(PATHS_BETWEEN, [workspaceId, from, to], options),

    due: (now: Date, limit: number) => db.rows<PendingDelivery>(DUE, [now, limit]),

    async delivery(workspaceId: string, sessionId: string): Promise<PendingDelivery | undefined> {
      return (await db.rows<PendingDelivery>(BY_SESSION, [workspaceId, sessionId]))[0];
    },

    /** Records that the session has all events up to `seq`. Returns whether more changes are pending. */
    markDelivered: ({ workspaceId, sessionId }: PendingDelivery, seq: number, now: Date): Promise<boolean> =>
      db.transaction(async (tx) => {
        const [row] = await tx.rows<{ deliveredSeq: number }>(LOCK, [workspaceId, sessionId]);
        if (!row) return false;
        // The row is locked first: every change that adds events takes the same lock.
        const [pending] = await tx.rows<{ more: boolean }>(HAS_MORE, [
          workspaceId,
          Math.max(seq, row.deliveredSeq),
        ]);
        if (pending?.more) await tx.change(MARK_DELIVERED, [workspaceId, sessionId, seq, now]);
        else await tx.change(DELETE_DELIVERY, [workspaceId, sessionId]);
        return pending?.more ?? false;
      }),

    /** Ends the delivery to a session that no longer exists. */
    drop: ({ workspaceId, sessionId }: PendingDelivery) =>
      db.change(DELETE_DELIVERY, [workspaceId, sessionId]),

    postpone: ({ workspaceId, sessionId }: PendingDelivery, due: Date) =>
      db.change(POSTPONE, [workspaceId, sessionId, due]),
  };
}
