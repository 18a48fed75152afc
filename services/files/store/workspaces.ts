import { type Database, type ReadOptions, type Session, statement } from '../../../lib/db/database.ts';
import { refuse } from '../../../lib/errors.ts';
import { WORKSPACE, type WorkspaceRow } from './rows.ts';

/** For whom, and in which trace, something is read. */
export type { ReadOptions };

const BY_ID = statement('files.workspace', `select ${WORKSPACE} from workspaces where workspace_id = $1`);

const LOCK = statement(
  'files.lock_workspace',
  `select ${WORKSPACE} from workspaces where workspace_id = $1 for update`,
);

const CREATE = statement(
  'files.create_workspace',
  `insert into workspaces (workspace_id, owner_id, created_at, updated_at) values ($1, $2, $3, $3)
   on conflict (workspace_id) do nothing`,
);

/** Taken by whoever works under a lease, and waited for by whoever takes the next one. */
const FENCE = statement(
  'files.fence',
  `insert into fences as seen (workspace_id, session_id, fence) values ($1, $2, $3)
   on conflict (workspace_id, session_id) do update set fence = excluded.fence where seen.fence <= excluded.fence
   returning fence`,
);

/** Whose workspace, as others have said. */
export interface Located {
  /** wsp_… */
  workspaceId: string;
  /** usr_… */
  ownerId: string;
  /** ses_…; empty for an assistant's workspace that its owner changes. */
  sessionId: string;
  readOnly: boolean;
  /** It is somebody else's: the caller may only read it. */
  foreign: boolean;
}

/** A workspace that is deleted, or was somebody else's, looks like one that is not there. */
function checked(row: WorkspaceRow | undefined, located: Located): WorkspaceRow | undefined {
  if (!row || (row.deletedAt === null && row.ownerId === located.ownerId)) return row;
  throw refuse(
    located.sessionId ? 'SESSION_NOT_FOUND' : 'ASSISTANT_NOT_FOUND',
    'the workspace is not there any more',
  );
}

/** Undefined for one that nobody has changed yet. */
export async function readWorkspace(db: Database, located: Located, options?: ReadOptions) {
  const [row] = await db.rows<WorkspaceRow>(BY_ID, [located.workspaceId], options);
  return checked(row, located);
}

/** Made when it is not there. Nobody else changes it before the transaction is over. */
export async function lockWorkspace(tx: Session, located: Located, now: Date): Promise<WorkspaceRow> {
  const lock = async () => checked((await tx.rows<WorkspaceRow>(LOCK, [located.workspaceId]))[0], located);
  const there = await lock();
  if (there) return there;
  await tx.change(CREATE, [located.workspaceId, located.ownerId, now]);
  const made = await lock();
  if (!made) throw new Error('a workspace that was made is not there');
  return made;
}

export interface Lease {
  sessionId: string;
  fence: number;
}

/** Refused with LEASE_LOST when a younger one has been seen. */
export async function checkFence(
  tx: Session,
  workspaceId: string,
  { sessionId, fence }: Lease,
): Promise<void> {
  if ((await tx.rows(FENCE, [workspaceId, sessionId, fence])).length > 0) return;
  throw refuse('LEASE_LOST', 'another runner works on this workspace now');
}
