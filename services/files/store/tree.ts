import { type DatabaseSession, type ReadOptions, statement } from '../../../lib/db/database.ts';
import type { TreeEntry } from '../domain/node.ts';
import { compareByBytes } from '../domain/paths.ts';
import { ENTRY_COLUMNS, type EntryRow, nodeOf, type WorkspaceLayers } from './rows.ts';

/** Joins each layer separately, so that each layer is a scan of its own index range. */
const LAYERS = `unnest($1::text[], $2::bigint[]) with ordinality as layer (workspace_id, version, depth)`;
const OF_LAYER = `e.workspace_id = layer.workspace_id and e.to_version > layer.version and e.from_version <= layer.version`;

/** $3 paths. Of the rows that end after the version, the one that ends first is the one of that version. */
const AT_PATHS = statement(
  'files.at_paths',
  `select ${ENTRY_COLUMNS}, layer.depth from unnest($3::text[]) as requested (path)
   cross join ${LAYERS}
   cross join lateral (
     select * from entries e where ${OF_LAYER} and e.path = requested.path order by e.to_version limit 1
   ) e
   order by layer.depth`,
);

/** $3 the directory, $4 the last path of the previous page, $5 maximum rows of each layer. */
const IN_DIRECTORY = statement(
  'files.in_directory',
  `select ${ENTRY_COLUMNS}, layer.depth from ${LAYERS}
   cross join lateral (
     select * from entries e where ${OF_LAYER} and e.directory = $3 and e.path > $4 order by e.path limit $5
   ) e`,
);

/** $3 the last path of the previous page, $4 the first path beyond the directory, $5 maximum rows of each layer. */
const BELOW = statement(
  'files.below',
  `select ${ENTRY_COLUMNS}, layer.depth from ${LAYERS}
   cross join lateral (
     select * from entries e where ${OF_LAYER} and e.path > $3 and e.path < $4 order by e.path limit $5
   ) e`,
);

/** Sorts after every path: no path component has so many bytes. */
const PATH_UPPER_BOUND = '\u{10ffff}'.repeat(64);
const PAGE_ROWS = 1_000;

/** $3 the lower and $4 the upper bound of the paths in the directory, both exclusive. */
const WHOLE_TREE = statement(
  'files.tree',
  `select ${ENTRY_COLUMNS}, layer.depth from ${LAYERS}
   cross join lateral (select * from entries e where ${OF_LAYER} and e.path > $3 and e.path < $4) e
   order by layer.depth`,
);

interface RowReader {
  rows: <Row extends object>(
    query: Parameters<DatabaseSession['rows']>[0],
    values?: readonly unknown[],
    options?: ReadOptions,
  ) => Promise<Row[]>;
}

export function createTree(db: RowReader) {
  /** The rows at these paths, the nearest layer first. */
  async function rowsAt(layers: WorkspaceLayers, paths: readonly string[], options?: ReadOptions) {
    return db.rows<EntryRow>(AT_PATHS, [layers.ids, layers.versions, paths], options);
  }

  /**
   * The entries of a directory after the path `last`, sorted by path, in pages: only its direct entries, or all entries
   * below it.
   */
  async function* after(
    layers: WorkspaceLayers,
    directory: string,
    last: string,
    recursive: boolean,
    pageRows: number,
    options?: ReadOptions,
  ): AsyncGenerator<TreeEntry[]> {
    const [begin, beyond] = boundsOf(directory);
    for (let from = last; ; ) {
      const where = recursive ? [from || begin, beyond] : [directory, from];
      const values = [layers.ids, layers.versions, ...where, pageRows];
      const rows = await db.rows<EntryRow>(recursive ? BELOW : IN_DIRECTORY, values, options);
      // A row that a nearer layer returns only on the next page may hide a row of this page, so the page is cut.
      const merged = nearest(rows).slice(0, pageRows);
      const entries = merged.flatMap((row) => {
        const node = nodeOf(row);
        return node ? [{ path: row.path, node }] : [];
      });
      if (entries.length > 0) yield entries;
      const end = merged.at(-1)?.path;
      if (end === undefined || merged.length < pageRows) return;
      from = end;
    }
  }

  return {
    rowsAt,

    /** The rows of all entries below a directory, the nearest layer first. */
    rowsBelow: (layers: WorkspaceLayers, directory: string) =>
      db.rows<EntryRow>(WHOLE_TREE, [layers.ids, layers.versions, ...boundsOf(directory)]),

    async at(layers: WorkspaceLayers, path: string, options?: ReadOptions): Promise<TreeEntry | undefined> {
      const [row] = await rowsAt(layers, [path], options);
      const node = row && nodeOf(row);
      return node && { path, node };
    },

    /** The entries at these paths, by path. Absent paths are left out. */
    async atAll(
      layers: WorkspaceLayers,
      paths: readonly string[],
      options?: ReadOptions,
    ): Promise<Map<string, TreeEntry>> {
      const found = new Map<string, TreeEntry>();
      for (const row of nearest(await rowsAt(layers, paths, options))) {
        const node = nodeOf(row);
        if (node) found.set(row.path, { path: row.path, node });
      }
      return found;
    },

    /** At most `limit + 1` entries of a directory after the path `last`. */
    async page(
      layers: WorkspaceLayers,
      directory: string,
      last: string,
      recursive: boolean,
      limit: number,
      options?: ReadOptions,
    ): Promise<TreeEntry[]> {
      const found: TreeEntry[] = [];
      for await (const entries of after(layers, directory, last, recursive, limit + 1, options)) {
        found.push(...entries);
        if (found.length > limit) break;
      }
      return found.slice(0, limit + 1);
    },

    /** All entries below a directory, sorted by path, in pages. */
    walk: (layers: WorkspaceLayers, directory: string, options?: ReadOptions) =>
      after(layers, directory, '', true, PAGE_ROWS, options),
  };
}

/** The exclusive bounds of the paths below a directory: `0` is the character after `/`. */
function boundsOf(directory: string): [string, string] {
  return directory === '' ? ['', PATH_UPPER_BOUND] : [`${directory}/`, `${directory}0`];
}

/** The row of the nearest layer for each path, sorted by path. */
function nearest(rows: readonly EntryRow[]): EntryRow[] {
  const found = new Map<string, EntryRow>();
  for (const row of rows) {
    const nearer = found.get(row.path);
    if (!nearer || row.depth < nearer.depth) found.set(row.path, row);
  }
  return [...found.values()].sort((one, other) => compareByBytes(one.path, other.path));
}
