import { type ReadOptions, type Session, statement } from '../../../lib/db/database.ts';
import type { Placed } from '../domain/node.ts';
import { byBytes } from '../domain/paths.ts';
import { ENTRY, type EntryRow, type Layers, nodeOf } from './rows.ts';

/** Each layer gives the rows of its version; one by one, so that each is a scan of its own index range. */
const LAYERS = `unnest($1::text[], $2::bigint[]) with ordinality as layer (workspace_id, version, depth)`;
const OF_LAYER = `e.workspace_id = layer.workspace_id and e.to_version > layer.version and e.from_version <= layer.version`;

/** $3 paths. A row that ends after the version and begins before it is the one: it ends first. */
const AT_PATHS = statement(
  'files.at_paths',
  `select ${ENTRY}, layer.depth from unnest($3::text[]) as asked (path)
   cross join ${LAYERS}
   cross join lateral (
     select * from entries e where ${OF_LAYER} and e.path = asked.path order by e.to_version limit 1
   ) e
   order by layer.depth`,
);

/** $3 the directory, $4 the last path seen, $5 rows of each layer. */
const IN_DIRECTORY = statement(
  'files.in_directory',
  `select ${ENTRY}, layer.depth from ${LAYERS}
   cross join lateral (
     select * from entries e where ${OF_LAYER} and e.directory = $3 and e.path > $4 order by e.path limit $5
   ) e`,
);

/** $3 the last path seen, $4 the first path beyond the directory, $5 rows of each layer. */
const BELOW = statement(
  'files.below',
  `select ${ENTRY}, layer.depth from ${LAYERS}
   cross join lateral (
     select * from entries e where ${OF_LAYER} and e.path > $3 and e.path < $4 order by e.path limit $5
   ) e`,
);

/** Beyond every path: no part of one has so many bytes. */
const END = '\u{10ffff}'.repeat(64);
const AT_ONCE = 1_000;

/** $3 the last path before what is in the directory, $4 the first one beyond it. */
const TREE = statement(
  'files.tree',
  `select ${ENTRY}, layer.depth from ${LAYERS}
   cross join lateral (select * from entries e where ${OF_LAYER} and e.path > $3 and e.path < $4) e
   order by layer.depth`,
);

/** What a session of the database can tell of trees; `options` go with every statement. */
export type Tree = ReturnType<typeof createTree>;

interface Reader {
  rows: <Row extends object>(
    query: Parameters<Session['rows']>[0],
    values?: readonly unknown[],
    options?: ReadOptions,
  ) => Promise<Row[]>;
}

export function createTree(db: Reader) {
  /** The rows of these paths, the nearest layer first. */
  async function rowsAt(layers: Layers, paths: readonly string[], options?: ReadOptions) {
    return db.rows<EntryRow>(AT_PATHS, [layers.ids, layers.versions, paths], options);
  }

  /**
   * All that is in a directory and comes after a path, in the order of the paths: what is directly in it, or everything.
   */
  async function* after(
    layers: Layers,
    directory: string,
    last: string,
    recursive: boolean,
    atOnce: number,
    options?: ReadOptions,
  ): AsyncGenerator<Placed[]> {
    const [begin, beyond] = boundsOf(directory);
    for (let from = last; ; ) {
      const where = recursive ? [from || begin, beyond] : [directory, from];
      const values = [layers.ids, layers.versions, ...where, atOnce];
      const rows = await db.rows<EntryRow>(recursive ? BELOW : IN_DIRECTORY, values, options);
      // What one layer has not shown yet may hide what another one has.
      const merged = nearest(rows).slice(0, atOnce);
      const placed = merged.flatMap((row) => {
        const node = nodeOf(row);
        return node ? [{ path: row.path, node }] : [];
      });
      if (placed.length > 0) yield placed;
      const end = merged.at(-1)?.path;
      if (end === undefined || merged.length < atOnce) return;
      from = end;
    }
  }

  return {
    rowsAt,

    /** The rows of everything in a directory, the nearest layer first. */
    rowsBelow: (layers: Layers, directory: string) =>
      db.rows<EntryRow>(TREE, [layers.ids, layers.versions, ...boundsOf(directory)]),

    async at(layers: Layers, path: string, options?: ReadOptions): Promise<Placed | undefined> {
      const [row] = await rowsAt(layers, [path], options);
      const node = row && nodeOf(row);
      return node && { path, node };
    },

    /** Those of these paths at which something stands. */
    async atAll(
      layers: Layers,
      paths: readonly string[],
      options?: ReadOptions,
    ): Promise<Map<string, Placed>> {
      const found = new Map<string, Placed>();
      for (const row of nearest(await rowsAt(layers, paths, options))) {
        const node = nodeOf(row);
        if (node) found.set(row.path, { path: row.path, node });
      }
      return found;
    },

    /** At most `limit + 1` of what is in a directory after a path. */
    async page(
      layers: Layers,
      directory: string,
      last: string,
      recursive: boolean,
      limit: number,
      options?: ReadOptions,
    ): Promise<Placed[]> {
      const found: Placed[] = [];
      for await (const some of after(layers, directory, last, recursive, limit + 1, options)) {
        found.push(...some);
        if (found.length > limit) break;
      }
      return found.slice(0, limit + 1);
    },

    /** Everything in a directory, in the order of the paths, in pages. */
    walk: (layers: Layers, directory: string, options?: ReadOptions) =>
      after(layers, directory, '', true, AT_ONCE, options),
  };
}

/** Everything in a directory lies between these: `0` is what follows `/`. */
function boundsOf(directory: string): [string, string] {
  return directory === '' ? ['', END] : [`${directory}/`, `${directory}0`];
}

/** The row of the nearest layer for each path, in the order of the paths. */
function nearest(rows: readonly EntryRow[]): EntryRow[] {
  const found = new Map<string, EntryRow>();
  for (const row of rows) {
    const known = found.get(row.path);
    if (!known || row.depth < known.depth) found.set(row.path, row);
  }
  return [...found.values()].sort((one, other) => byBytes(one.path, other.path));
}
