import { type Database, type Statement, statement, type WriteOptions } from '../../../lib/db/database.ts';

/** A browser that is at the identity provider. Digests are the SHA-256 of cookies, in hexadecimal. */
export interface Attempt {
  digest: string;
  state: string;
  sealedProof: string;
  returnTo: string;
  endsAt: Date;
}

export interface Login {
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

export type LoginStore = ReturnType<typeof createLoginStore>;

export function createLoginStore(db: Database) {
  async function all(query: Statement, before: Date, signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await db.change(query, [before])) === BATCH);
  }

  return {
    async begin({ digest, state, sealedProof, returnTo, endsAt }: Attempt, options?: WriteOptions) {
      await db.change(BEGIN, [digest, state, sealedProof, returnTo, endsAt], options);
    },

    /** The attempt of this browser with this state, which is gone from now on; undefined when there is none. */
    async take(digest: string, state: string, { trace }: WriteOptions = {}) {
      const [row] = await db.rows<Omit<Attempt, 'digest' | 'state'>>(TAKE, [digest, state], { trace });
      return row;
    },

    async add(login: Login, options?: WriteOptions): Promise<void> {
      const { loginId, digest, userId, sealedIdToken, createdAt, endsAt } = login;
      await db.change(INSERT, [loginId, digest, userId, sealedIdToken, createdAt, endsAt], options);
    },

    /** The login that is worth nothing from now on; undefined when there was none. */
    async end(digest: string, { trace }: WriteOptions = {}) {
      const [row] = await db.rows<Pick<Login, 'loginId' | 'userId' | 'sealedIdToken'>>(END, [digest], {
        trace,
      });
      return row;
    },

    /** Deletes what has ended by now, and logins that nobody has used since then; less of it when the signal aborts. */
    async sweep(now: Date, unusedSince: Date, signal: AbortSignal): Promise<void> {
      await all(SWEEP_ATTEMPTS, now, signal);
      await all(SWEEP_ENDED, now, signal);
      await all(SWEEP_IDLE, unusedSince, signal);
    },
  };
}
