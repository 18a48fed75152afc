import { type Database, type Statement, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { storedSecret } from '../../../lib/db/sealing-check.ts';

/** A login in progress, while the browser is at the identity provider. Digests are the SHA-256 of cookies, in hexadecimal. */
interface LoginAttempt {
  digest: string;
  state: string;
  sealedProof: string;
  returnTo: string;
  endsAt: Date;
}

interface Login {
  /** lgn_… */
  loginId: string;
  digest: string;
  userId: string;
  sealedIdToken: string;
  createdAt: Date;
  endsAt: Date;
}

const BEGIN = statement(
  'auth.begin_login',
  `insert into login_attempts (value_hash, state, sealed_proof, return_to, ends_at)
   values (decode($1, 'hex'), $2, $3, $4, $5)`,
);

const TAKE = statement(
  'auth.take_login_attempt',
  `delete from login_attempts where value_hash = decode($1, 'hex') and state = $2
   returning sealed_proof as "sealedProof", return_to as "returnTo", ends_at as "endsAt"`,
);

const INSERT = statement(
  'auth.insert_login',
  `insert into logins (login_id, value_hash, user_id, sealed_id_token, created_at, seen_at, ends_at)
   values ($1, decode($2, 'hex'), $3, $4, $5, $5, $6)`,
);

const END = statement(
  'auth.end_login',
  `delete from logins where value_hash = decode($1, 'hex')
   returning login_id as "loginId", user_id as "userId", sealed_id_token as "sealedIdToken"`,
);

const BATCH = 1_000;

const SWEEP_ATTEMPTS = statement(
  'auth.sweep_login_attempts',
  `delete from login_attempts where value_hash = any (array(
     select value_hash from login_attempts where ends_at <= $1
     order by ends_at limit ${BATCH} for update skip locked))`,
);

const SWEEP_ENDED = statement(
  'auth.sweep_ended_logins',
  `delete from logins where login_id = any (array(
     select login_id from logins where ends_at <= $1 order by ends_at limit ${BATCH} for update skip locked))`,
);

const SWEEP_IDLE = statement(
  'auth.sweep_idle_logins',
  `delete from logins where login_id = any (array(
     select login_id from logins where seen_at <= $1 order by seen_at limit ${BATCH} for update skip locked))`,
);

/** One stored ID token: one whose key is none of $1, if there is any. */
export const STORED_ID_TOKEN = storedSecret({
  name: 'auth.stored_id_token',
  table: 'logins',
  sealed: 'sealed_id_token',
  context: 'login_id',
});

export type LoginStore = ReturnType<typeof createLoginStore>;

export function createLoginStore(db: Database) {
  async function deleteAll(query: Statement, before: Date, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await db.change(query, [before])) === BATCH);
  }

  return {
    async begin({ digest, state, sealedProof, returnTo, endsAt }: LoginAttempt, options?: WriteOptions) {
      await db.change(BEGIN, [digest, state, sealedProof, returnTo, endsAt], options);
    },

    /** Deletes and returns the attempt of this browser with this state; undefined when there is none. */
    async consume(digest: string, state: string, { trace }: WriteOptions = {}) {
      const [row] = await db.rows<Omit<LoginAttempt, 'digest' | 'state'>>(TAKE, [digest, state], { trace });
      return row;
    },

    async add(login: Login, options?: WriteOptions): Promise<void> {
      const { loginId, digest, userId, sealedIdToken, createdAt, endsAt } = login;
      await db.change(INSERT, [loginId, digest, userId, sealedIdToken, createdAt, endsAt], options);
    },

    /** Deletes and returns the login; undefined when there is none. */
    async end(digest: string, { trace }: WriteOptions = {}) {
      const [row] = await db.rows<Pick<Login, 'loginId' | 'userId' | 'sealedIdToken'>>(END, [digest], {
        trace,
      });
      return row;
    },

    /** Deletes ended attempts and logins, and logins not used since `unusedSince`. Stops early when the signal aborts. */
    async sweep(now: Date, unusedSince: Date, signal: AbortSignal): Promise<void> {
      await deleteAll(SWEEP_ATTEMPTS, now, signal);
      await deleteAll(SWEEP_ENDED, now, signal);
      await deleteAll(SWEEP_IDLE, unusedSince, signal);
    },
  };
}
