import { decodeCursor, type Page, pageOf } from '../../../lib/db/cursor.ts';
import type { Database, ReadOptions } from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import type { Node, Placed } from '../domain/node.ts';
import { type ChangeRow, createFeed } from './feed.ts';
import { type Layers, layersOf, type WorkspaceRow } from './rows.ts';
import { createTree } from './tree.ts';
import { type Located, readWorkspace } from './workspaces.ts';

export interface PageRequest {
  limit: number;
  /** Empty for the first page. */
  cursor: string;
}

/** One version of a workspace. */
export interface Snapshot {
  row: WorkspaceRow | undefined;
  /** Undefined of a workspace that nobody has changed yet. */
  layers: Layers | undefined;
  version: number;
}

export type Reads = ReturnType<typeof createReads>;

export function createReads(db: Database) {
  const tree = createTree(db);
  const feed = createFeed(db);

  async function directoryAt(
    { layers }: Snapshot,
    path: string,
    options?: ReadOptions,
  ): Promise<Layers | undefined> {
    const there = layers && path !== '' ? await tree.at(layers, path, options) : undefined;
    if (path !== '' && there?.node.kind !== 'directory') throw notFound(path, 'directory');
    return layers;
  }

  return {
    workspace: (located: Located, options?: ReadOptions) => readWorkspace(db, located, options),

    /** Refused with FILE_NOT_FOUND for a version that is not kept any more, or not there yet. */
    async snapshot(located: Located, version?: number, options?: ReadOptions): Promise<Snapshot> {
      const row = await readWorkspace(db, located, options);
      const newest = row?.version ?? 0;
      const oldest = row?.oldestVersion ?? 0;
      const wanted = version ?? newest;
      if (wanted > newest || wanted < oldest) {
        throw refuse('FILE_NOT_FOUND', `version ${wanted} is not kept; there are ${oldest} to ${newest}`);
      }
      return { row, version: wanted, layers: row && layersOf(row, wanted) };
    },

    async node({ layers }: Snapshot, path: string, options?: ReadOptions): Promise<Node> {
      const there = layers && (await tree.at(layers, path, options));
      if (!there) throw notFound(path, 'file or directory');
      return there.node;
    },

    async nodes({ layers }: Snapshot, paths: readonly string[], options?: ReadOptions) {
      return layers ? tree.atAll(layers, paths, options) : new Map<string, Placed>();
    },

    /** What is in a directory, in the order of the paths. */
    async list(
      located: Located,
      snapshot: Snapshot,
      path: string,
      recursive: boolean,
      { limit, cursor }: PageRequest,
      options?: ReadOptions,
    ): Promise<Page<Placed>> {
      const scope = ['ListEntries', located.ownerId, located.workspaceId, path, recursive];
      const last = decodeCursor(scope, cursor) ?? '';
      const layers = await directoryAt(snapshot, path, options);
      const rows = layers ? await tree.page(layers, path, last, recursive, limit, options) : [];
      return pageOf(rows, limit, scope, (row) => row.path);
    },

    /** Everything in a directory, in the order of the paths, in pages. */
    async walk(snapshot: Snapshot, path: string, options?: ReadOptions): Promise<AsyncIterable<Placed[]>> {
      const layers = await directoryAt(snapshot, path, options);
      return layers ? tree.walk(layers, path, options) : nothing();
    },

    /** Refused with CURSOR_EXPIRED when changes after that one are not kept any more. */
    async changes(
      located: Located,
      afterSeq: number,
      { limit, cursor }: PageRequest,
      options?: ReadOptions,
    ): Promise<Page<ChangeRow>> {
      const row = await readWorkspace(db, located, options);
      const scope = ['ListChanges', located.ownerId, located.workspaceId, afterSeq];
      const after = Number(decodeCursor(scope, cursor) ?? afterSeq);
      if (!Number.isSafeInteger(after) || after < 0 || after > (row?.lastSeq ?? 0)) {
        throw refuse('INVALID_CURSOR', `there is no change ${after}`);
      }
      if (after > 0 && after < (row?.trimmedSeq ?? 0)) {
        throw refuse('CURSOR_EXPIRED', `changes up to ${row?.trimmedSeq} are not kept any more`);
      }
      const rows = await feed.after(located.workspaceId, after, limit + 1, options);
      return pageOf(rows, limit, scope, ({ seq }) => String(seq));
    },

    changedPaths: feed.pathsBetween,
  };
}

function notFound(path: string, what: string) {
  return refuse('FILE_NOT_FOUND', `there is no ${what} ${path}`);
}

async function* nothing(): AsyncGenerator<Placed[]> {}
