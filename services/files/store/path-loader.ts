import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import { type LoadedPath, outermostOf, type WorkspaceView } from '../domain/workspace-view.ts';
import { type EntryRow, layersOf, nodeOf, type WorkspaceLayers, type WorkspaceRow } from './rows.ts';
import { createTree } from './tree.ts';

/** The newest version up to $3 in which an entry at each of these paths was replaced or removed. */
const LAST_CLOSED = statement(
  'files.closed_at',
  `select requested.path, e.to_version as version from unnest($2::text[]) as requested (path)
   cross join lateral (
     select to_version from entries e
     where e.workspace_id = $1 and e.path = requested.path and e.to_version <= $3
     order by e.to_version desc limit 1
   ) e`,
);

/**
 * Loads the paths and directories that the planner has found missing, as earlier parts of the same change have left
 * them. Their entries have the next version of the workspace.
 */
export class PathLoader {
  readonly loaded = new Map<string, LoadedPath>();
  readonly trees = new Set<string>();
  /** The loaded paths whose current row an earlier part of the change has inserted. */
  readonly insertedEarlier = new Set<string>();
  readonly #tx: DatabaseSession;
  readonly #tree: ReturnType<typeof createTree>;
  readonly #layers: WorkspaceLayers;
  /** The version before the change. */
  readonly #version: number;
  /** Load `closedVersion`, too: changes with a base version depend on when a path was last changed. */
  readonly #withClosed: boolean;

  constructor(tx: DatabaseSession, before: WorkspaceRow, withClosed: boolean) {
    this.#tx = tx;
    this.#tree = createTree(tx);
    this.#layers = layersOf(before, before.version + 1);
    this.#version = before.version;
    this.#withClosed = withClosed;
  }

  async load({ paths, trees }: WorkspaceView['missing']): Promise<void> {
    if (paths.length > 0) {
      for (const path of paths) this.loaded.set(path, { closedVersion: 0 });
      this.#add(await this.#tree.rowsAt(this.#layers, paths));
      if (this.#withClosed) await this.#loadClosed(paths);
    }
    for (const tree of outermostOf(trees)) {
      this.#add(await this.#tree.rowsBelow(this.#layers, tree));
      this.trees.add(tree);
    }
  }

  async #loadClosed(paths: string[]): Promise<void> {
    const values = [this.#layers.ids[0], paths, this.#version];
    for (const { path, version } of await this.#tx.rows<{ path: string; version: number }>(
      LAST_CLOSED,
      values,
    )) {
      const loaded = this.loaded.get(path);
      if (loaded) loaded.closedVersion = version;
    }
  }

  /** The rows are ordered by depth, the nearest layer first. */
  #add(rows: readonly EntryRow[]): void {
    const inherited = new Set<string>();
    for (const row of rows) {
      const loaded = this.loaded.get(row.path) ?? { closedVersion: 0 };
      this.loaded.set(row.path, loaded);
      if (row.depth === 1) {
        const isInsertedEarlier = row.fromVersion > this.#version;
        if (isInsertedEarlier) this.insertedEarlier.add(row.path);
        // An entry of an earlier part is no change by others.
        loaded.own = { node: nodeOf(row), fromVersion: isInsertedEarlier ? 0 : row.fromVersion };
      } else if (!inherited.has(row.path)) {
        loaded.inherited = nodeOf(row);
        inherited.add(row.path);
      }
    }
  }
}
