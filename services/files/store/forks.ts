import {
  type Database,
  type DatabaseSession,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import { copyParts, deleteParts } from './parts.ts';
import { CURRENT, layersOf, WORKSPACE_COLUMNS, type WorkspaceLayers, type WorkspaceRow } from './rows.ts';
import { expectSession } from './unconfirmed-sessions.ts';

/** The maximum number of parents of a workspace. A fork of a workspace that has as many gets copies of the rows. */
const MAX_PARENTS = 15;

const SOURCE = statement(
  'files.fork_source',
  `select ${WORKSPACE_COLUMNS} from workspaces where workspace_id = $1 for share`,
);

const INSERT = statement(
  'files.insert_fork',
  `insert into workspaces (workspace_id, owner_id, version, oldest_version, trimmed_version, parent_ids, parent_versions,
     parent_id, parent_version, forked_from, forked_version, files, directories, bytes, created_at, updated_at)
   values ($1, $2, $3, $3, $3, $4, $5, $6, $7, $8, $3, $9, $10, $11, $12, $12)
   on conflict (workspace_id) do nothing returning workspace_id`,
);

const INSERT_VERSION = statement(
  'files.insert_fork_version',
  'insert into versions (workspace_id, version, files, directories, bytes) values ($1, $2, $3, $4, $5)',
);

const EXISTING_FORK = statement(
  'files.made_fork',
  `select forked_from as "forkedFrom", forked_version as version, deleted_at as "deletedAt"
   from workspaces where workspace_id = $1`,
);

const LAYERS = `unnest($3::text[], $4::bigint[]) with ordinality as layer (workspace_id, version, depth)`;

/** Copies all entries that one version shows into the workspace $1, as of its version $2. */
const COPY = statement(
  'files.copy_entries',
  `insert into entries (workspace_id, from_version, to_version, path, directory, kind, content_id, size, sha256,
     executable, target, modified_at)
   select $1, $2, ${CURRENT}, path, directory, kind, content_id, size, sha256, executable, target, modified_at
   from (
     select distinct on (e.path) e.* from ${LAYERS}
     cross join lateral (
       select * from entries e
       where e.workspace_id = layer.workspace_id and e.to_version > layer.version and e.from_version <= layer.version
     ) e
     order by e.path, layer.depth
   ) shown
   where kind <> 'gone'`,
);

/** The totals of a version that is still retained. */
const VERSION_TOTALS = statement(
  'files.amount',
  'select files, directories, bytes from versions where workspace_id = $1 and version = $2',
);

const DELETE = statement(
  'files.delete_workspace',
  `insert into workspaces (workspace_id, owner_id, created_at, updated_at, deleted_at) values ($1, '', $2, $2, $2)
   on conflict (workspace_id) do update set deleted_at = $2 where workspaces.deleted_at is null`,
);

interface ForkRequest {
  fromId: string;
  /** Absent for the newest. */
  version?: number | undefined;
  toId: string;
  /** ses_…: the sessions, whose parts the fork shares. */
  sessions: { fromId: string; toId: string };
  /** The time at which the new session must exist. */
  checkAt: Date;
  /** usr_…: the required owner of the source; undefined if the caller does not name one. */
  ownerId: string | undefined;
  now: Date;
}

type PartsFork = Pick<ForkRequest, 'sessions' | 'checkAt' | 'now'>;
type Amount = Pick<WorkspaceRow, 'files' | 'directories' | 'bytes'>;

export type WorkspaceForks = ReturnType<typeof createWorkspaceForks>;

export function createWorkspaceForks(db: Database) {
  return {
    /**
     * Makes a workspace that shows another workspace as of a version, with a constant number of rows regardless of its
     * size. Returns the first version of the fork.
     */
    fork: (fork: ForkRequest, options?: WriteOptions): Promise<number> =>
      db.transaction(async (tx) => {
        const [source] = await tx.rows<WorkspaceRow>(SOURCE, [fork.fromId]);
        if (source && fork.ownerId !== undefined && source.ownerId !== fork.ownerId) throw notFound();
        if (source?.deletedAt) throw notFound();
        await sharePartsOf(tx, fork);
        return source ? make(tx, fork, source) : makeEmpty(tx, fork);
      }, options),

    /** Lets a fork read all parts of the session that it was made from. */
    shareParts: (fork: PartsFork, options?: WriteOptions): Promise<void> =>
      db.transaction((tx) => sharePartsOf(tx, fork), options),

    /** Hides the workspace at once; the sweeper removes its rows later. Deletes the parts of the session, if one is named. */
    delete: (
      { workspaceId, sessionId }: { workspaceId: string; sessionId: string | undefined },
      now: Date,
      options?: WriteOptions,
    ): Promise<void> =>
      db.transaction(async (tx) => {
        await tx.change(DELETE, [workspaceId, now]);
        if (sessionId !== undefined) await deleteParts(tx, sessionId, now);
      }, options),
  };
}

async function sharePartsOf(tx: DatabaseSession, { sessions, checkAt, now }: PartsFork): Promise<void> {
  await copyParts(tx, sessions.fromId, sessions.toId, now);
  await expectSession(tx, sessions.toId, checkAt);
}

async function make(tx: DatabaseSession, fork: ForkRequest, source: WorkspaceRow): Promise<number> {
  const requested = fork.version ?? source.version;
  const version = Math.min(Math.max(requested, source.oldestVersion), source.version);
  const layers = layersOf(source, version);
  const shows = layers.ids.length <= MAX_PARENTS;
  const parents: WorkspaceLayers = shows ? layers : { ids: [], versions: [] };
  const amount = version === source.version ? source : await amountOf(tx, fork.fromId, version);
  const isNew = await insert(tx, fork, source.ownerId, version, parents, amount);
  if (!isNew) return firstVersion(tx, fork);
  if (!shows) await tx.change(COPY, [fork.toId, version, layers.ids, layers.versions]);
  return version;
}

/** Forks a workspace that was never changed. The fork gets its own row, so that later changes of the source do not show. */
async function makeEmpty(tx: DatabaseSession, fork: ForkRequest): Promise<number> {
  if (fork.ownerId === undefined) return 0;
  const nothing = { files: 0, directories: 0, bytes: 0 };
  const isNew = await insert(tx, fork, fork.ownerId, 0, { ids: [], versions: [] }, nothing);
  return isNew ? 0 : firstVersion(tx, fork);
}

async function insert(
  tx: DatabaseSession,
  { toId, fromId, now }: ForkRequest,
  ownerId: string,
  version: number,
  parents: WorkspaceLayers,
  { files, directories, bytes }: Amount,
): Promise<boolean> {
  const values = [
    ...[toId, ownerId, version, parents.ids, parents.versions],
    ...[parents.ids[0] ?? null, parents.versions[0] ?? null, fromId, files, directories, bytes, now],
  ];
  if ((await tx.rows(INSERT, values)).length === 0) return false;
  await tx.change(INSERT_VERSION, [toId, version, files, directories, bytes]);
  return true;
}

/** Returns the version of the fork that an earlier call with the same arguments has made. Refused with NAME_TAKEN. */
async function firstVersion(tx: DatabaseSession, { fromId, toId }: ForkRequest): Promise<number> {
  const [made] = await tx.rows<{ forkedFrom: string | null; version: number; deletedAt: Date | null }>(
    EXISTING_FORK,
    [toId],
  );
  if (made?.forkedFrom === fromId && made.deletedAt === null) return made.version;
  throw refuse('NAME_TAKEN', 'The new session already has a workspace.');
}

async function amountOf(tx: DatabaseSession, workspaceId: string, version: number): Promise<Amount> {
  const [amount] = await tx.rows<Amount>(VERSION_TOTALS, [workspaceId, version]);
  return amount ?? { files: 0, directories: 0, bytes: 0 };
}

function notFound() {
  return refuse('SESSION_NOT_FOUND', 'Unknown workspace. It cannot be forked.');
}
