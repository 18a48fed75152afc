import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import { WORKSPACE_COLUMNS, type WorkspaceRow } from './rows.ts';

export type { ReadOptions };

const BY_ID = statement(
  'files.workspace',
  `select ${WORKSPACE_COLUMNS} from workspaces where workspace_id = $1`,
);

const LOCK = statement(
  'files.lock_workspace',
  `select ${WORKSPACE_COLUMNS} from workspaces where workspace_id = $1 for update`,
);

const CREATE = statement(
  'files.create_workspace',
  `insert into workspaces (workspace_id, owner_id, created_at, updated_at) values ($1, $2, $3, $3)
   on conflict (workspace_id) do nothing`,
);

/** Stores the newest fence of a session. Returns no row for an older fence. Concurrent calls wait for each other. */
const RAISE_FENCE = statement(
  'files.fence',
  `insert into fences as seen (workspace_id, session_id, fence) values ($1, $2, $3)
   on conflict (workspace_id, session_id) do update set fence = excluded.fence where seen.fence <= excluded.fence
   returning fence`,
);

/** A workspace with its owner and the caller's access, as the owning service has reported them. */
export interface LocatedWorkspace {
  /** wsp_… */
  workspaceId: string;
  /** usr_…, or skl_… for a version of a skill. */
  ownerId: string;
  /** ses_…; empty when the owner of an assistant works on its workspace directly, and for a version of a skill. */
  sessionId: string;
  readOnly: boolean;
  /** True when the workspace belongs to another user; the caller may only read it. */
  foreign: boolean;
}

/** Refuses a workspace that is deleted or belongs to another owner like one that does not exist. */
function visibleWorkspace(
  row: WorkspaceRow | undefined,
  located: LocatedWorkspace,
): WorkspaceRow | undefined {
  if (!row || (row.deletedAt === null && row.ownerId === located.ownerId)) return row;
  const code = located.sessionId
    ? 'SESSION_NOT_FOUND'
    : located.ownerId.startsWith('skl_')
      ? 'SKILL_NOT_FOUND'
      : 'ASSISTANT_NOT_FOUND';
  throw refuse(code, 'The workspace was deleted.');
}

/** Undefined for a workspace that was never changed. */
export async function readWorkspace(db: Database, located: LocatedWorkspace, options?: ReadOptions) {
  const [row] = await db.rows<WorkspaceRow>(BY_ID, [located.workspaceId], options);
  return visibleWorkspace(row, located);
}

/** Locks a workspace for changes until the transaction ends. Creates it if it does not exist. */
export async function lockWorkspace(
  tx: DatabaseSession,
  located: LocatedWorkspace,
  now: Date,
): Promise<WorkspaceRow> {
  const lock = async () =>
    visibleWorkspace((await tx.rows<WorkspaceRow>(LOCK, [located.workspaceId]))[0], located);
  const existing = await lock();
  if (existing) return existing;
  await tx.change(CREATE, [located.workspaceId, located.ownerId, now]);
  const created = await lock();
  if (!created) throw new Error('the workspace row is missing after its insert');
  return created;
}

export interface FencedLease {
  sessionId: string;
  fence: number;
}

export type Fences = ReturnType<typeof createFences>;

export function createFences(db: Database) {
  return {
    /** Makes changes under an older lease of the session fail. Refused with LEASE_LOST when a newer lease is known. */
    raise: (workspaceId: string, lease: FencedLease) => checkFence(db, workspaceId, lease),
  };
}

/** Raises the fence of a session. Refused with LEASE_LOST when a newer fence is stored. */
export async function checkFence(
  tx: DatabaseSession,
  workspaceId: string,
  { sessionId, fence }: FencedLease,
): Promise<void> {
  if ((await tx.rows(RAISE_FENCE, [workspaceId, sessionId, fence])).length > 0) return;
  throw refuse('LEASE_LOST', 'The lease was lost: another runner works on this workspace now.');
}
