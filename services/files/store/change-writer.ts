import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { ChangeSet } from '../domain/change-set.ts';
import type { Node } from '../domain/node.ts';
import { parentOf } from '../domain/paths.ts';
import { CURRENT } from './rows.ts';

const CLOSE_ENTRIES = statement(
  'files.close_entries',
  `update entries e set to_version = $3 from unnest($2::text[]) as closed (path)
   where e.workspace_id = $1 and e.path = closed.path and e.to_version = ${CURRENT}`,
);

/** Removes entries that an earlier part of the same change has inserted: no version shows them. */
const DELETE_ENTRIES = statement(
  'files.delete_entries',
  `delete from entries e using unnest($2::text[]) as closed (path)
   where e.workspace_id = $1 and e.path = closed.path and e.to_version = ${CURRENT} and e.from_version = $3`,
);

const INSERT_ENTRIES = statement(
  'files.insert_entries',
  `insert into entries (workspace_id, from_version, to_version, path, directory, kind, content_id, size, sha256,
     executable, target, modified_at)
   select $1, $2, ${CURRENT}, path, directory, kind, nullif(content_id, ''), size, sha256, executable, target, modified_at
   from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::boolean[], $10::text[],
     $11::timestamptz[])
     as made (path, directory, kind, content_id, size, sha256, executable, target, modified_at)`,
);

/** $2 is the workspace's `last_seq` before the change. */
const INSERT_CHANGES = statement(
  'files.tell_changes',
  `insert into changes (workspace_id, seq, workspace_version, session_id, user_id, created_at, kind, path, entry_kind,
     size, sha256, executable, target, modified_at, upload)
   select $1, $2 + number, $3, $4, $5, $6, kind, path, entry_kind, size, sha256, executable, target, modified_at, $15
   from unnest($7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::boolean[], $13::text[],
     $14::timestamptz[]) with ordinality
     as told (kind, path, entry_kind, size, sha256, executable, target, modified_at, number)`,
);

const ROWS_PER_STATEMENT = 5_000;

/** The version that a change makes, and its author. */
interface NewVersion {
  workspaceId: string;
  version: number;
  /** ses_…; empty for none. */
  sessionId: string;
  /** usr_…; empty when an agent makes the change. */
  userId: string;
  upload: boolean;
  now: Date;
}

/**
 * Writes the entries of a change set. `insertedEarlier` are the paths whose current row was inserted with the same
 * version.
 */
export async function writeEntries(
  tx: DatabaseSession,
  { workspaceId, version, now }: NewVersion,
  { closedPaths, rows }: ChangeSet,
  insertedEarlier: ReadonlySet<string>,
): Promise<void> {
  const deleted = closedPaths.filter((path) => insertedEarlier.has(path));
  for (const paths of slices(deleted)) await tx.change(DELETE_ENTRIES, [workspaceId, paths, version]);
  const closed = closedPaths.filter((path) => !insertedEarlier.has(path));
  for (const paths of slices(closed)) await tx.change(CLOSE_ENTRIES, [workspaceId, paths, version]);
  for (const slice of slices(rows)) {
    const paths = slice.map(({ path }) => path);
    const nodes = slice.map(({ node }) => node);
    const values = [
      paths,
      paths.map(parentOf),
      nodes.map((node) => node?.kind ?? 'gone'),
      nodes.map((node) => node?.contentId ?? ''),
      ...nodeColumns(nodes, now),
    ];
    await tx.change(INSERT_ENTRIES, [workspaceId, version, ...values]);
  }
}

/** Adds changes of paths to the change feed, numbered from `lastSeq + 1` on. */
export async function writeChanges(
  tx: DatabaseSession,
  { workspaceId, version, sessionId, userId, upload, now }: NewVersion,
  changes: ChangeSet['changes'],
  lastSeq: number,
): Promise<void> {
  let seq = lastSeq;
  for (const slice of slices(changes)) {
    const nodes = slice.map(({ node }) => node);
    const values = [
      slice.map(({ kind }) => kind),
      slice.map(({ path }) => path),
      nodes.map((node) => node?.kind ?? ''),
      ...nodeColumns(nodes, now),
    ];
    await tx.change(INSERT_CHANGES, [workspaceId, seq, version, sessionId, userId, now, ...values, upload]);
    seq += slice.length;
  }
}

/** Splits the rows so that every statement stays short. */
function* slices<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += ROWS_PER_STATEMENT)
    yield items.slice(from, from + ROWS_PER_STATEMENT);
}

/** The columns size, sha256, executable, target and modified_at. */
function nodeColumns(nodes: readonly (Node | undefined)[], now: Date): unknown[] {
  return [
    nodes.map((node) => node?.size ?? 0),
    nodes.map((node) => node?.sha256 ?? ''),
    nodes.map((node) => node?.executable ?? false),
    nodes.map((node) => node?.target ?? ''),
    nodes.map((node) => (node?.modifiedAt ?? now).toISOString()),
  ];
}
