import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { EnvironmentStatus } from '../domain/environment.ts';

/** Where the commands of a session run, and up to which workspace change its journal has file events. */
interface EnvironmentRow {
  status: EnvironmentStatus;
  sandbox_id: string | null;
  files_seq: number;
}

const ENVIRONMENT = statement(
  'sessions.environment',
  'select status, sandbox_id, files_seq from session_environments where session_id = $1',
);
const SET_ENVIRONMENT = statement(
  'sessions.set_environment',
  `insert into session_environments (session_id, status, sandbox_id, provider) values ($1, $2, $3, $4)
   on conflict (session_id) do update set status = $2, sandbox_id = $3, provider = $4`,
);
const SET_STATUS = statement(
  'sessions.set_environment_status',
  'update session_environments set status = $2 where session_id = $1',
);
const SET_FILES_SEQ = statement(
  'sessions.set_files_seq',
  `insert into session_environments (session_id, files_seq) values ($1, $2)
   on conflict (session_id) do update set files_seq = $2`,
);

const NO_ENVIRONMENT: EnvironmentRow = { status: 'none', sandbox_id: null, files_seq: 0 };

/** Reads and writes the environment of a session under the lock of its head. */
export const sessionEnvironments = {
  async read(tx: DatabaseSession, sessionId: string): Promise<EnvironmentRow> {
    const [row] = await tx.rows<EnvironmentRow>(ENVIRONMENT, [sessionId]);
    return row ?? NO_ENVIRONMENT;
  },
  async put(
    tx: DatabaseSession,
    sessionId: string,
    status: EnvironmentStatus,
    { sandboxId, provider }: { sandboxId: string; provider: string },
  ): Promise<void> {
    await tx.change(SET_ENVIRONMENT, [sessionId, status, sandboxId, provider]);
  },
  async setStatus(tx: DatabaseSession, sessionId: string, status: EnvironmentStatus): Promise<void> {
    await tx.change(SET_STATUS, [sessionId, status]);
  },
  async setFilesSeq(tx: DatabaseSession, sessionId: string, seq: number): Promise<void> {
    await tx.change(SET_FILES_SEQ, [sessionId, seq]);
  },
};
