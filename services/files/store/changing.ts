import { type Database, type Session, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { type IdempotencyKey, type OnceAnswer, once } from '../../../lib/db/idempotency.ts';
import { refuse } from '../../../lib/errors.ts';
import { checkQuota, type Limits, type Outcome, outcomeOf } from '../domain/outcome.ts';
import { directoryOf } from '../domain/paths.ts';
import { type Planned, plan, type Wish } from '../domain/plan.ts';
import { type effective, type Known, outermost, View } from '../domain/view.ts';
import { type Held, holdContents } from './contents.ts';
import { type EntryRow, type Layers, layersOf, nodeOf, STANDS, type WorkspaceRow } from './rows.ts';
import { createTree } from './tree.ts';
import { checkFence, type Lease, type Located, lockWorkspace } from './workspaces.ts';

/** What is to become of a workspace. */
export interface Order {
  located: Located;
  lease?: Lease | undefined;
  /** The version on which the wishes were made. */
  base?: number | undefined;
  contentIds: string[];
  /** The wishes, once the contents are known that they name. */
  wishes: (held: Held) => Wish[];
  /** usr_…; empty when it was an agent. */
  userId: string;
  limits: Limits;
  now: Date;
}

export interface Changed extends Planned {
  workspace: WorkspaceRow;
  /** There is something to tell of. */
  isTold: boolean;
}

const CLOSE = statement(
  'files.close_entries',
  `update entries e set to_version = $3 from unnest($2::text[]) as closed (path)
   where e.workspace_id = $1 and e.path = closed.path and e.to_version = ${STANDS}`,
);

const INSERT = statement(
  'files.insert_entries',
  `insert into entries (workspace_id, from_version, to_version, path, directory, kind, content_id, size, sha256,
     executable, target, modified_at)
   select $1, $2, ${STANDS}, path, directory, kind, nullif(content_id, ''), size, sha256, executable, target, modified_at
   from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[], $9::boolean[], $10::text[],
     $11::timestamptz[])
     as made (path, directory, kind, content_id, size, sha256, executable, target, modified_at)`,
);

/** $2 the newest number there is. */
const TELL = statement(
  'files.tell_changes',
  `insert into changes (workspace_id, seq, workspace_version, session_id, user_id, created_at, kind, path, entry_kind,
     size, sha256, executable, target, modified_at)
   select $1, $2 + number, $3, $4, $5, $6, kind, path, entry_kind, size, sha256, executable, target, modified_at
   from unnest($7::text[], $8::text[], $9::text[], $10::bigint[], $11::text[], $12::boolean[], $13::text[],
     $14::timestamptz[]) with ordinality
     as told (kind, path, entry_kind, size, sha256, executable, target, modified_at, number)`,
);

const ADVANCE = statement(
  'files.advance_workspace',
  `with version as (
     insert into versions (workspace_id, version, files, directories, bytes) values ($1, $2, $3, $4, $5)
   )
   update workspaces set version = $2, files = $3, directories = $4, bytes = $5, last_seq = $6, updated_at = $7
   where workspace_id = $1`,
);

/** A little later than now: whoever has made the change tells of it at once. */
const OWE = statement(
  'files.owe_delivery',
  `insert into deliveries as owed (workspace_id, session_id, told_seq, due_at) values ($1, $2, $3, $4)
   on conflict (workspace_id, session_id) do update set due_at = least(owed.due_at, excluded.due_at)`,
);
const DUE_MS = 2_000;

const AT_ONCE = 5_000;

/** When something stood at these paths for the last time that was replaced or removed. */
const CLOSED = statement(
  'files.closed_at',
  `select asked.path, e.to_version as version from unnest($2::text[]) as asked (path)
   cross join lateral (
     select to_version from entries e
     where e.workspace_id = $1 and e.path = asked.path and e.to_version < ${STANDS}
     order by e.to_version desc limit 1
   ) e`,
);

export type Changing = ReturnType<typeof createChanging>;

export function createChanging(db: Database) {
  return {
    /** Changes a workspace, at most once per key. `answer` makes what a later call with the key gets. */
    change(
      order: Order,
      key: IdempotencyKey,
      answer: (changed: Changed) => Uint8Array,
      options?: WriteOptions,
    ): Promise<OnceAnswer> {
      return once(db, key, async (tx) => answer(await carryOut(tx, order)), options);
    },
  };
}

async function carryOut(tx: Session, order: Order): Promise<Changed> {
  const { located, lease, base, now } = order;
  if (lease) await checkFence(tx, located.workspaceId, lease);
  const before = await lockWorkspace(tx, located, now);
  if (base !== undefined && base > before.version) {
    throw refuse('INVALID_REQUEST', `the workspace has no version ${base} yet`);
  }
  const held = await holdContents(tx, located.ownerId, order.contentIds);
  const { view, planned } = await planOn(tx, before, order.wishes(held), base, now);
  const outcome = outcomeOf(view);
  const isUnchanged = outcome.closed.length === 0 && outcome.rows.length === 0;
  if (isUnchanged) return { ...planned, workspace: before, isTold: false };
  const amount = checkQuota(before, outcome.more, order.limits);
  const version = before.version + 1;
  const lastSeq = before.lastSeq + outcome.told.length;
  const workspace = { ...before, ...amount, version, lastSeq, updatedAt: now };
  await write(tx, before, workspace, outcome, order);
  return { ...planned, workspace, isTold: outcome.told.length > 0 };
}

async function planOn(
  tx: Session,
  row: WorkspaceRow,
  wishes: readonly Wish[],
  base: number | undefined,
  now: Date,
): Promise<{ view: View; planned: Planned }> {
  const loader = new Loader(tx, layersOf(row), base !== undefined);
  for (;;) {
    const view = new View(loader.known, loader.trees);
    const planned = plan(view, wishes, base, now);
    if (planned) return { view, planned };
    await loader.load(view.needs);
  }
}

/** Looks up what a plan needs to know. */
class Loader {
  readonly known = new Map<string, Known>();
  readonly trees = new Set<string>();
  readonly #tx: Session;
  readonly #tree: ReturnType<typeof createTree>;
  readonly #layers: Layers;
  /** Somebody may ask when a path was changed at which nothing stands. */
  readonly #withClosed: boolean;

  constructor(tx: Session, layers: Layers, withClosed: boolean) {
    this.#tx = tx;
    this.#tree = createTree(tx);
    this.#layers = layers;
    this.#withClosed = withClosed;
  }

  async load({ paths, trees }: View['needs']): Promise<void> {
    if (paths.length > 0) {
      for (const path of paths) this.known.set(path, { closedVersion: 0 });
      this.#take(await this.#tree.rowsAt(this.#layers, paths));
      if (this.#withClosed) await this.#loadClosed(paths);
    }
    for (const tree of outermost(trees)) {
      this.#take(await this.#tree.rowsBelow(this.#layers, tree));
      this.trees.add(tree);
    }
  }

  async #loadClosed(paths: string[]): Promise<void> {
    const values = [this.#layers.ids[0], paths];
    for (const { path, version } of await this.#tx.rows<{ path: string; version: number }>(CLOSED, values)) {
      const known = this.known.get(path);
      if (known) known.closedVersion = version;
    }
  }

  /** Rows come with the nearest layer first. */
  #take(rows: readonly EntryRow[]): void {
    const inherited = new Set<string>();
    for (const row of rows) {
      const known = this.known.get(row.path) ?? { closedVersion: 0 };
      this.known.set(row.path, known);
      if (row.depth === 1) {
        known.own = { node: nodeOf(row), fromVersion: row.fromVersion };
      } else if (!inherited.has(row.path)) {
        known.inherited = nodeOf(row);
        inherited.add(row.path);
      }
    }
  }
}

async function write(
  tx: Session,
  before: WorkspaceRow,
  after: WorkspaceRow,
  { closed, rows, told }: Outcome,
  { located: { workspaceId, sessionId }, userId, now }: Order,
): Promise<void> {
  for (const some of slices(closed)) await tx.change(CLOSE, [workspaceId, some, after.version]);
  for (const some of slices(rows)) {
    const paths = some.map(({ path }) => path);
    const nodes = some.map(({ node }) => node);
    const values = [
      paths,
      paths.map(directoryOf),
      nodes.map((node) => node?.kind ?? 'gone'),
      nodes.map((node) => node?.contentId ?? ''),
      ...factsOf(nodes, now),
    ];
    await tx.change(INSERT, [workspaceId, after.version, ...values]);
  }
  let seq = before.lastSeq;
  for (const some of slices(told)) {
    const nodes = some.map(({ node }) => node);
    const values = [
      some.map(({ kind }) => kind),
      some.map(({ path }) => path),
      nodes.map((node) => node?.kind ?? ''),
      ...factsOf(nodes, now),
    ];
    await tx.change(TELL, [workspaceId, seq, after.version, sessionId, userId, now, ...values]);
    seq += some.length;
  }
  if (sessionId && told.length > 0) {
    const due = new Date(now.getTime() + DUE_MS);
    await tx.change(OWE, [workspaceId, sessionId, before.lastSeq, due]);
  }
  const { version, files, directories, bytes, lastSeq } = after;
  await tx.change(ADVANCE, [workspaceId, version, files, directories, bytes, lastSeq, now]);
}

/** However many there are, no statement takes long. */
function* slices<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let from = 0; from < items.length; from += AT_ONCE) yield items.slice(from, from + AT_ONCE);
}

/** Size, digest, executable, target and time, column by column. */
function factsOf(nodes: readonly ReturnType<typeof effective>[], now: Date): unknown[] {
  return [
    nodes.map((node) => node?.size ?? 0),
    nodes.map((node) => node?.sha256 ?? ''),
    nodes.map((node) => node?.executable ?? false),
    nodes.map((node) => node?.target ?? ''),
    nodes.map((node) => (node?.modifiedAt ?? now).toISOString()),
  ];
}
