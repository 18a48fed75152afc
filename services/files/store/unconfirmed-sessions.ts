import { type Database, type DatabaseSession, statement } from '../../../lib/db/database.ts';

const BATCH = 100;

const EXPECT = statement(
  'files.expect_session',
  `insert into unconfirmed_sessions as expected (session_id, check_at) values ($1, $2)
   on conflict (session_id) do update set check_at = greatest(expected.check_at, excluded.check_at)`,
);

const DUE = statement(
  'files.sessions_to_confirm',
  `select session_id as "sessionId" from unconfirmed_sessions where check_at <= $1
   order by check_at limit ${BATCH}`,
);

const IS_EXPECTED = statement(
  'files.session_is_expected',
  'select exists (select 1 from unconfirmed_sessions where session_id = $1 and check_at > $2) as expected',
);

const CONFIRM = statement(
  'files.confirm_session',
  'delete from unconfirmed_sessions where session_id = $1 and check_at <= $2',
);

export type UnconfirmedSessions = ReturnType<typeof createUnconfirmedSessions>;

export function createUnconfirmedSessions(db: Database) {
  return {
    /** The sessions that must exist by now. */
    async due(now: Date): Promise<string[]> {
      return (await db.rows<{ sessionId: string }>(DUE, [now])).map(({ sessionId }) => sessionId);
    },

    /** Returns whether the session may still be created. */
    async isExpected(sessionId: string, now: Date): Promise<boolean> {
      return (await db.rows<{ expected: boolean }>(IS_EXPECTED, [sessionId, now]))[0]?.expected ?? false;
    },

    /** Ends the expectation, unless it was renewed meanwhile. */
    confirm: (sessionId: string, now: Date) => db.change(CONFIRM, [sessionId, now]),
  };
}

/** Makes the service check at this time whether the session exists. Rows that belong to an absent session are deleted. */
export async function expectSession(tx: DatabaseSession, sessionId: string, checkAt: Date): Promise<void> {
  await tx.change(EXPECT, [sessionId, checkAt]);
}
