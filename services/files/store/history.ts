import { type Database, type Session, statement } from '../../../lib/db/database.ts';
import { STANDS } from './rows.ts';

const BATCH = 1_000;

/** Old changes that their session knows of, or has had all the time to hear of. */
const OLD_CHANGES = statement(
  'files.old_changes',
  `select workspace_id as "workspaceId", seq, workspace_version as version from changes
   where created_at < $1 order by created_at limit ${BATCH}`,
);

const FORGET_CHANGES = statement(
  'files.forget_changes',
  'delete from changes where workspace_id = $1 and seq <= $2',
);

const FORGET_VERSIONS = statement(
  'files.forget_versions',
  `update workspaces set oldest_version = greatest(oldest_version, $2), trimmed_seq = greatest(trimmed_seq, $3)
   where workspace_id = $1`,
);

const TO_TRIM = statement(
  'files.workspaces_to_trim',
  `select workspace_id as "workspaceId", oldest_version as version, trimmed_version as trimmed from workspaces
   where trimmed_version < oldest_version order by workspace_id limit 10`,
);

/** Rows that a fork shows stay, until that fork is gone. */
const IS_SHOWN = `exists (
  select 1 from workspaces f where f.parent_id = e.workspace_id
    and f.parent_version >= e.from_version and f.parent_version < e.to_version)`;

/** After $2 and $3, the last one seen, up to the version $4. */
const CLOSED = statement(
  'files.closed_entries',
  `select e.path, e.to_version as "toVersion", ${IS_SHOWN} as shown from entries e
   where e.workspace_id = $1 and (e.to_version, e.path) > ($2, $3) and e.to_version <= $4 and e.to_version < ${STANDS}
   order by e.to_version, e.path limit ${BATCH}`,
);

const REMOVE = statement(
  'files.remove_entries',
  `delete from entries e using unnest($2::text[], $3::bigint[]) as old (path, to_version)
   where e.workspace_id = $1 and e.path = old.path and e.to_version = old.to_version
   returning e.content_id as "contentId"`,
);

/** Whether anything still needs them is seen when they are looked at. */
const LOOK_AT = statement(
  'files.look_at_contents',
  `update contents set check_at = $2 where content_id in (
     select content_id from contents
     where content_id = any ($1::text[]) and deleting_at is null and (check_at is null or check_at > $2)
     order by content_id for update)`,
);

const TRIMMED = statement(
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

/** $2 the last path seen, and $3 until when it stood. */
const ALL = statement(
  'files.all_entries',
  `select e.path, e.to_version as "toVersion", ${IS_SHOWN} as shown from entries e
   where e.workspace_id = $1 and (e.path, e.to_version) > ($2, $3) order by e.path, e.to_version limit ${BATCH}`,
);

const FORGET_ALL_CHANGES = statement(
  'files.forget_all_changes',
  `delete from changes where workspace_id = $1 and seq in (
     select seq from changes where workspace_id = $1 order by seq limit ${BATCH})`,
);

const FORGET_DELIVERIES = statement(
  'files.forget_deliveries',
  'delete from deliveries where workspace_id = $1',
);
const FORGET_FENCES = statement('files.forget_fences', 'delete from fences where workspace_id = $1');

const PURGED = statement('files.purged', 'update workspaces set purged_at = $2 where workspace_id = $1');

/** It stays as long as a fork shows something of it. */
const REMOVE_WORKSPACE = statement(
  'files.remove_workspace',
  `delete from workspaces w where w.workspace_id = $1
     and not exists (select 1 from workspaces f where f.parent_id = w.workspace_id)
   returning parent_id as "parentId"`,
);

/** What only the fork showed can go now. */
const LOOK_AGAIN = statement(
  'files.look_at_parent',
  `update workspaces set trimmed_version = 0, purged_at = null where workspace_id = $1`,
);

interface Place {
  path: string;
  toVersion: number;
}

interface Old extends Place {
  shown: boolean;
}

export type History = ReturnType<typeof createHistory>;

/** What of workspaces is not kept any more. Every method does a bounded part of its work, and says whether there is more. */
export function createHistory(db: Database) {
  async function remove(tx: Session, workspaceId: string, old: readonly Old[], now: Date): Promise<void> {
    const going = old.filter(({ shown }) => !shown);
    if (going.length === 0) return;
    const values = [workspaceId, going.map(({ path }) => path), going.map(({ toVersion }) => toVersion)];
    const rows = await tx.rows<{ contentId: string | null }>(REMOVE, values);
    const contents = [...new Set(rows.flatMap(({ contentId }) => contentId ?? []))];
    if (contents.length > 0) await tx.change(LOOK_AT, [contents, now]);
  }

  /** Page after page, so that no transaction is long. */
  async function removeAll(
    workspaceId: string,
    now: Date,
    first: Place,
    pageAfter: (tx: Session, last: Place) => Promise<Old[]>,
  ): Promise<void> {
    for (let last: Place | undefined = first; last; ) {
      const from: Place = last;
      last = await db.transaction(async (tx) => {
        const old = await pageAfter(tx, from);
        await remove(tx, workspaceId, old, now);
        return old.length === BATCH ? old.at(-1) : undefined;
      });
    }
  }

  return {
    /** Forgets changes from before that, and the versions that they have replaced. */
    forget: (before: Date): Promise<boolean> =>
      db.transaction(async (tx) => {
        const rows = await tx.rows<{ workspaceId: string; seq: number; version: number }>(OLD_CHANGES, [
          before,
        ]);
        const newest = new Map<string, { seq: number; version: number }>();
        for (const { workspaceId, seq, version } of rows) {
          const known = newest.get(workspaceId);
          if (!known || known.seq < seq) newest.set(workspaceId, { seq, version });
        }
        for (const [workspaceId, { seq, version }] of [...newest].sort()) {
          await tx.change(FORGET_VERSIONS, [workspaceId, version, seq]);
          await tx.change(FORGET_CHANGES, [workspaceId, seq]);
        }
        return rows.length === BATCH;
      }),

    /** Removes rows of versions that are not kept any more. */
    async trim(now: Date): Promise<boolean> {
      const found = await db.rows<{ workspaceId: string; version: number; trimmed: number }>(TO_TRIM);
      for (const { workspaceId, version, trimmed } of found) {
        // Nothing has so high a path.
        await removeAll(workspaceId, now, { path: '\u{10ffff}'.repeat(64), toVersion: trimmed }, (tx, last) =>
          tx.rows<Old>(CLOSED, [workspaceId, last.toVersion, last.path, version]),
        );
        await db.change(TRIM_VERSIONS, [workspaceId, version]);
        await db.change(TRIMMED, [workspaceId, version]);
      }
      return found.length > 0;
    },

    /** Removes what is left of workspaces that were deleted before that. */
    async purge(before: Date, now: Date): Promise<boolean> {
      const found = await db.rows<{ workspaceId: string }>(TO_PURGE, [before]);
      for (const { workspaceId } of found) {
        await removeAll(workspaceId, now, { path: '', toVersion: 0 }, (tx, last) =>
          tx.rows<Old>(ALL, [workspaceId, last.path, last.toVersion]),
        );
        while ((await db.change(FORGET_ALL_CHANGES, [workspaceId])) > 0);
        await db.transaction(async (tx) => {
          await tx.change(FORGET_DELIVERIES, [workspaceId]);
          await tx.change(FORGET_FENCES, [workspaceId]);
          await tx.change(TRIM_VERSIONS, [workspaceId, STANDS]);
          const [removed] = await tx.rows<{ parentId: string | null }>(REMOVE_WORKSPACE, [workspaceId]);
          if (!removed) await tx.change(PURGED, [workspaceId, now]);
          else if (removed.parentId) await tx.change(LOOK_AGAIN, [removed.parentId]);
        });
      }
      return found.length > 0;
    },
  };
}
