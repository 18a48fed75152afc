import { type Database, type DatabaseSession, statement } from '../../../lib/db/database.ts';

const BATCH = 100;

const EXPECT = statement(
  'files.expect_session',
  `insert into unconfirmed_sessions as expected (session_id, check_at) values ($1, $2)
   on conflict (session_id) do update set check_at = least(expected.check_at, excluded.check_at)`,
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

const LOCK = statement(
  'files.lock_unconfirmed_session',
  'select session_id from unconfirmed_sessions where session_id = $1 for update',
);

const OLDEST_PART = statement(
  'files.oldest_unconfirmed_part',
  'select min(unconfirmed_at) as "storedAt" from parts where session_id = $1 and unconfirmed_at is not null',
);

const POSTPONE = statement(
  'files.postpone_session_check',
  'update unconfirmed_sessions set check_at = $2 where session_id = $1',
);

const CONFIRM = statement('files.confirm_session', 'delete from unconfirmed_sessions where session_id = $1');

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

    /** Ends the expectation. While parts are not confirmed, the session is checked again `graceMs` after the oldest. */
    confirm: (sessionId: string, graceMs: number): Promise<void> =>
      db.transaction(async (tx) => {
        // The row is locked before the parts are read: a transaction that stores parts changes it after them.
        await tx.rows(LOCK, [sessionId]);
        const [oldest] = await tx.rows<{ storedAt: Date | null }>(OLDEST_PART, [sessionId]);
        const storedAt = oldest?.storedAt;
        if (storedAt) await tx.change(POSTPONE, [sessionId, new Date(storedAt.getTime() + graceMs)]);
        else await tx.change(CONFIRM, [sessionId]);
      }),
  };
}

/**
 * Makes the service check at this time whether the session exists and which parts its messages refer to. The rest is
 * deleted.
 */
export async function expectSession(tx: DatabaseSession, sessionId: string, checkAt: Date): Promise<void> {
  await tx.change(EXPECT, [sessionId, checkAt]);
}
