import { decodeCursor, pageOf, type RowPage } from '../../../lib/db/cursor.ts';
import type { Database, ReadOptions } from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Node, TreeEntry } from '../domain/node.ts';
import { type ChangeRow, createChangeFeed } from './change-feed.ts';
import { layersOf, type WorkspaceLayers, type WorkspaceRow } from './rows.ts';
import { createTree } from './tree.ts';
import { type LocatedWorkspace, readWorkspace } from './workspaces.ts';

export interface PageRequest {
  limit: number;
  /** Empty for the first page. */
  cursor: string;
}

/** One version of a workspace, for reads. */
export interface Snapshot {
  row: WorkspaceRow | undefined;
  /** Undefined for a workspace that was never changed. */
  layers: WorkspaceLayers | undefined;
  version: number;
}

export type WorkspaceReads = ReturnType<typeof createWorkspaceReads>;

export function createWorkspaceReads(db: Database) {
  const tree = createTree(db);
  const feed = createChangeFeed(db);

  async function directoryAt(
    { layers }: Snapshot,
    path: string,
    options?: ReadOptions,
  ): Promise<WorkspaceLayers | undefined> {
    const entry = layers && path !== '' ? await tree.at(layers, path, options) : undefined;
    if (path !== '' && entry?.node.kind !== 'directory') throw notFound(path, 'directory');
    return layers;
  }

  return {
    workspace: (located: LocatedWorkspace, options?: ReadOptions) => readWorkspace(db, located, options),

    /** Refused with FILE_NOT_FOUND for a version that is no longer retained or does not exist yet. */
    async snapshot(located: LocatedWorkspace, version?: number, options?: ReadOptions): Promise<Snapshot> {
      const row = await readWorkspace(db, located, options);
      const newest = row?.version ?? 0;
      const oldest = row?.oldestVersion ?? 0;
      const requested = version ?? newest;
      if (requested > newest || requested < oldest) {
        throw refuse(
          'FILE_NOT_FOUND',
          `Version ${requested} is not available. The workspace has the versions ${oldest} to ${newest}.`,
        );
      }
      return { row, version: requested, layers: row && layersOf(row, requested) };
    },

    async node({ layers }: Snapshot, path: string, options?: ReadOptions): Promise<Node> {
      const entry = layers && (await tree.at(layers, path, options));
      if (!entry) throw notFound(path, 'file or directory');
      return entry.node;
    },

    async entriesAt({ layers }: Snapshot, paths: readonly string[], options?: ReadOptions) {
      return layers ? tree.atAll(layers, paths, options) : new Map<string, TreeEntry>();
    },

    /** A page of the entries of a directory, sorted by path. */
    async list(
      located: LocatedWorkspace,
      snapshot: Snapshot,
      path: string,
      recursive: boolean,
      { limit, cursor }: PageRequest,
      options?: ReadOptions,
    ): Promise<RowPage<TreeEntry>> {
      const scope = ['ListEntries', located.ownerId, located.workspaceId, path, recursive];
      const last = decodeCursor(scope, cursor) ?? '';
      const layers = await directoryAt(snapshot, path, options);
      const rows = layers ? await tree.page(layers, path, last, recursive, limit, options) : [];
      return pageOf(rows, limit, scope, (row) => row.path);
    },

    /** All entries below a directory, sorted by path, in pages. */
    async walk(snapshot: Snapshot, path: string, options?: ReadOptions): Promise<AsyncIterable<TreeEntry[]>> {
      const layers = await directoryAt(snapshot, path, options);
      return layers ? tree.walk(layers, path, options) : noPages();
    },

    /** Refused with CURSOR_EXPIRED when changes after `afterSeq` are no longer retained. */
    async changes(
      located: LocatedWorkspace,
      afterSeq: number,
      { limit, cursor }: PageRequest,
      options?: ReadOptions,
    ): Promise<RowPage<ChangeRow>> {
      const row = await readWorkspace(db, located, options);
      const scope = ['ListChanges', located.ownerId, located.workspaceId, afterSeq];
      const after = Number(decodeCursor(scope, cursor) ?? afterSeq);
      if (!Number.isSafeInteger(after) || after < 0 || after > (row?.lastSeq ?? 0)) {
        throw refuse('INVALID_CURSOR', `The workspace has no change ${after}.`);
      }
      if (after > 0 && after < (row?.trimmedSeq ?? 0)) {
        throw refuse('CURSOR_EXPIRED', `Changes up to ${row?.trimmedSeq} are no longer retained.`);
      }
      const rows = await feed.after(located.workspaceId, after, limit + 1, options);
      return pageOf(rows, limit, scope, ({ seq }) => String(seq));
    },

    changedPaths: feed.pathsBetween,
  };
}

function notFound(path: string, kind: 'directory' | 'file or directory') {
  return refuse('FILE_NOT_FOUND', `Unknown ${kind} \`${path}\`.`);
}

async function* noPages(): AsyncGenerator<TreeEntry[]> {}
