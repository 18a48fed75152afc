import { type Database, type DatabaseSession, statement } from '../../../lib/db/database.ts';
import { scheduleContentCheck } from './contents.ts';
import { CURRENT } from './rows.ts';

const BATCH = 1_000;

/** Changes beyond the retention time. Their session has received them or was unreachable for all that time. */
const OLD_CHANGES = statement(
  'files.old_changes',
  `select workspace_id as "workspaceId", seq, workspace_version as version from changes
   where created_at < $1 order by created_at limit ${BATCH}`,
);

const DELETE_CHANGES = statement(
  'files.forget_changes',
  'delete from changes where workspace_id = $1 and seq <= $2',
);

const EXPIRE_VERSIONS = statement(
  'files.forget_versions',
  `update workspaces set oldest_version = greatest(oldest_version, $2), trimmed_seq = greatest(trimmed_seq, $3)
   where workspace_id = $1`,
);

const TO_TRIM = statement(
  'files.workspaces_to_trim',
  `select workspace_id as "workspaceId", oldest_version as version, trimmed_version as trimmed from workspaces
   where trimmed_version < oldest_version order by workspace_id limit 10`,
);

/** True for a row that a fork shows; it is kept until that fork is purged. */
const IS_SHOWN_BY_FORK = `exists (
  select 1 from workspaces f where f.parent_id = e.workspace_id
    and f.parent_version >= e.from_version and f.parent_version < e.to_version)`;

/** $2 and $3 are the version and path of the last entry of the previous page, $4 is the newest version to include. */
const CLOSED_ENTRIES = statement(
  'files.closed_entries',
  `select e.path, e.to_version as "toVersion", ${IS_SHOWN_BY_FORK} as shown from entries e
   where e.workspace_id = $1 and (e.to_version, e.path) > ($2, $3) and e.to_version <= $4 and e.to_version < ${CURRENT}
   order by e.to_version, e.path limit ${BATCH}`,
);

const REMOVE = statement(
  'files.remove_entries',
  `delete from entries e using unnest($2::text[], $3::bigint[]) as old (path, to_version)
   where e.workspace_id = $1 and e.path = old.path and e.to_version = old.to_version
   returning e.content_id as "contentId"`,
);

const MARK_TRIMMED = statement(
  'files.trimmed',
  'update workspaces set trimmed_version = greatest(trimmed_version, $2) where workspace_id = $1',
);

const TRIM_VERSIONS = statement(
  'files.trim_versions',
  'delete from versions where workspace_id = $1 and version < $2',
);

const TO_PURGE = statement(
  'files.workspaces_to_purge',
  `select workspace_id as "workspaceId" from workspaces
   where deleted_at < $1 and purged_at is null order by deleted_at limit 10`,
);

/** $2 and $3 are the path and `to_version` of the last entry of the previous page. */
const ALL_ENTRIES = statement(
  'files.all_entries',
  `select e.path, e.to_version as "toVersion", ${IS_SHOWN_BY_FORK} as shown from entries e
   where e.workspace_id = $1 and (e.path, e.to_version) > ($2, $3) order by e.path, e.to_version limit ${BATCH}`,
);

const DELETE_ALL_CHANGES = statement(
  'files.forget_all_changes',
  `delete from changes where workspace_id = $1 and seq in (
     select seq from changes where workspace_id = $1 order by seq limit ${BATCH})`,
);

const DELETE_DELIVERIES = statement(
  'files.forget_deliveries',
  'delete from deliveries where workspace_id = $1',
);
const DELETE_FENCES = statement('files.forget_fences', 'delete from fences where workspace_id = $1');

const MARK_PURGED = statement('files.purged', 'update workspaces set purged_at = $2 where workspace_id = $1');

/** Removes nothing while the workspace has forks. */
const REMOVE_WORKSPACE = statement(
  'files.remove_workspace',
  `delete from workspaces w where w.workspace_id = $1
     and not exists (select 1 from workspaces f where f.parent_id = w.workspace_id)
   returning parent_id as "parentId"`,
);

/** Makes the sweeper check the parent again: rows that only the purged fork needed can be removed now. */
const RECHECK_PARENT = statement(
  'files.look_at_parent',
  `update workspaces set trimmed_version = 0, purged_at = null where workspace_id = $1`,
);

interface EntryPosition {
  path: string;
  toVersion: number;
}

interface ExpiredEntry extends EntryPosition {
  shown: boolean;
}

export type RetentionStore = ReturnType<typeof createRetentionStore>;

/** Removes expired data of workspaces. Every method does a bounded part of its work and returns whether more is left. */
export function createRetentionStore(db: Database) {
  async function remove(
    tx: DatabaseSession,
    workspaceId: string,
    expired: readonly ExpiredEntry[],
    now: Date,
  ): Promise<void> {
    const removable = expired.filter(({ shown }) => !shown);
    if (removable.length === 0) return;
    const values = [
      workspaceId,
      removable.map(({ path }) => path),
      removable.map(({ toVersion }) => toVersion),
    ];
    const rows = await tx.rows<{ contentId: string | null }>(REMOVE, values);
    const contents = [...new Set(rows.flatMap(({ contentId }) => contentId ?? []))];
    await scheduleContentCheck(tx, contents, now);
  }

  /** Removes the entries in pages, so that no transaction takes long. */
  async function removeAll(
    workspaceId: string,
    now: Date,
    first: EntryPosition,
    pageAfter: (tx: DatabaseSession, last: EntryPosition) => Promise<ExpiredEntry[]>,
  ): Promise<void> {
    for (let last: EntryPosition | undefined = first; last; ) {
      const from: EntryPosition = last;
      last = await db.transaction(async (tx) => {
        const page = await pageAfter(tx, from);
        await remove(tx, workspaceId, page, now);
        return page.length === BATCH ? page.at(-1) : undefined;
      });
    }
  }

  return {
    /** Deletes the changes made before `before`, and expires the versions that they replaced. */
    expireVersions: (before: Date): Promise<boolean> =>
      db.transaction(async (tx) => {
        const rows = await tx.rows<{ workspaceId: string; seq: number; version: number }>(OLD_CHANGES, [
          before,
        ]);
        const newest = new Map<string, { seq: number; version: number }>();
        for (const { workspaceId, seq, version } of rows) {
          const other = newest.get(workspaceId);
          if (!other || other.seq < seq) newest.set(workspaceId, { seq, version });
        }
        for (const [workspaceId, { seq, version }] of [...newest].sort()) {
          await tx.change(EXPIRE_VERSIONS, [workspaceId, version, seq]);
          await tx.change(DELETE_CHANGES, [workspaceId, seq]);
        }
        return rows.length === BATCH;
      }),

    /** Removes the rows of expired versions. */
    async removeExpiredEntries(now: Date): Promise<boolean> {
      const found = await db.rows<{ workspaceId: string; version: number; trimmed: number }>(TO_TRIM);
      for (const { workspaceId, version, trimmed } of found) {
        // Starts after every possible path of the version `trimmed`.
        await removeAll(workspaceId, now, { path: '\u{10ffff}'.repeat(64), toVersion: trimmed }, (tx, last) =>
          tx.rows<ExpiredEntry>(CLOSED_ENTRIES, [workspaceId, last.toVersion, last.path, version]),
        );
        await db.change(TRIM_VERSIONS, [workspaceId, version]);
        await db.change(MARK_TRIMMED, [workspaceId, version]);
      }
      return found.length > 0;
    },

    /** Removes the data of workspaces that were deleted before `before`. */
    async purgeDeletedWorkspaces(before: Date, now: Date): Promise<boolean> {
      const found = await db.rows<{ workspaceId: string }>(TO_PURGE, [before]);
      for (const { workspaceId } of found) {
        await removeAll(workspaceId, now, { path: '', toVersion: 0 }, (tx, last) =>
          tx.rows<ExpiredEntry>(ALL_ENTRIES, [workspaceId, last.path, last.toVersion]),
        );
        while ((await db.change(DELETE_ALL_CHANGES, [workspaceId])) > 0);
        await db.transaction(async (tx) => {
          await tx.change(DELETE_DELIVERIES, [workspaceId]);
          await tx.change(DELETE_FENCES, [workspaceId]);
          await tx.change(TRIM_VERSIONS, [workspaceId, CURRENT]);
          const [removed] = await tx.rows<{ parentId: string | null }>(REMOVE_WORKSPACE, [workspaceId]);
          if (!removed) await tx.change(MARK_PURGED, [workspaceId, now]);
          else if (removed.parentId) await tx.change(RECHECK_PARENT, [removed.parentId]);
        });
      }
      return found.length > 0;
    },
  };
}
