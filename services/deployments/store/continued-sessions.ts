import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';

const RESERVE = statement(
  'continued_sessions.reserve',
  `update schedules set session_id = $2
   where deployment_id = $1 and not session_is_given and session_id is not distinct from $3`,
);

const READ = statement(
  'continued_sessions.read',
  'select session_id as "sessionId" from schedules where deployment_id = $1',
);

const CREATOR = statement(
  'continued_sessions.creator',
  `select from runs where run_id = $1 and (status = 'queued' or (turn_id is null and check_at > $2))`,
);

export type ContinuedSessionStore = ReturnType<typeof createContinuedSessionStore>;

/** The sessions that schedules continue and that their runs have created. */
export function createContinuedSessionStore(db: Database) {
  return {
    /**
     * Makes `sessionId` the session of the schedule if it still has the `expected` one. Returns the session that the
     * schedule has now; undefined for a deleted schedule.
     */
    async reserve(
      deploymentId: string,
      sessionId: string,
      expected: string | null,
      { trace }: WriteOptions,
    ): Promise<string | undefined> {
      if ((await db.change(RESERVE, [deploymentId, sessionId, expected], { trace })) > 0) return sessionId;
      const [row] = await db.rows<{ sessionId: string | null }>(READ, [deploymentId], { trace });
      return row?.sessionId ?? undefined;
    },

    /** Whether the run that creates a session has not started yet, or was cancelled while it possibly starts. */
    async isBeingCreated(runId: string, now: Date, { trace }: WriteOptions): Promise<boolean> {
      return (await db.rows(CREATOR, [runId, now], { trace })).length > 0;
    },
  };
}
