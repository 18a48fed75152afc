import { createBatcher } from '../../../lib/db/batcher.ts';
import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { Scope } from '../domain/scopes.ts';

/** The stored data of a personal access token. */
export interface TokenRecord {
  /** tok_… */
  id: string;
  userId: string;
  scopes: Scope[];
  /** Null: never. */
  expiresAt: Date | null;
  lastUsedAt: Date | null;
}

/** The stored data of a login. */
export interface LoginRecord {
  /** lgn_… */
  id: string;
  userId: string;
  seenAt: Date;
  endsAt: Date;
}

const TOKENS = statement(
  'auth.tokens_by_value',
  `select encode(value_hash, 'hex') as digest, token_id as id, user_id as "userId", scopes,
     expires_at as "expiresAt", last_used_at as "lastUsedAt"
   from tokens where value_hash = any ($1::bytea[])`,
);

const LOGINS = statement(
  'auth.logins_by_value',
  `select encode(value_hash, 'hex') as digest, login_id as id, user_id as "userId", seen_at as "seenAt",
     ends_at as "endsAt"
   from logins where value_hash = any ($1::bytea[])`,
);

const TOKENS_USED = statement(
  'auth.tokens_used',
  `with seen as (select * from unnest($1::text[], $2::timestamptz[]) as s (token_id, at)),
   locked as (select token_id, at from seen join tokens using (token_id) order by token_id for update of tokens)
   update tokens t set last_used_at = greatest(t.last_used_at, l.at) from locked l where t.token_id = l.token_id`,
);

const LOGINS_USED = statement(
  'auth.logins_used',
  `with seen as (select * from unnest($1::text[], $2::timestamptz[]) as s (login_id, at)),
   locked as (select login_id, at from seen join logins using (login_id) order by login_id for update of logins)
   update logins t set seen_at = greatest(t.seen_at, l.at) from locked l where t.login_id = l.login_id`,
);

const USERS_SEEN = statement(
  'auth.users_seen',
  `with seen as (select * from unnest($1::text[], $2::timestamptz[]) as s (user_id, at)),
   locked as (select user_id, at from seen join users using (user_id) order by user_id for update of users)
   update users t set last_seen_at = greatest(t.last_seen_at, l.at) from locked l where t.user_id = l.user_id`,
);

const RECORD_LAST_SEEN = { tok: TOKENS_USED, lgn: LOGINS_USED, usr: USERS_SEEN };

export type CredentialStore = ReturnType<typeof createCredentialStore>;

/** Looks up credentials by the SHA-256 of their value, in hexadecimal. */
export function createCredentialStore(db: Database) {
  /** Requests with unknown credentials use at most two connections, however many arrive. */
  const createLookup = <Found>(name: string, query: typeof TOKENS) =>
    createBatcher<string, Found | undefined>({
      name,
      observer: db.observer,
      async run(digests, options) {
        const hashes = digests.map((digest) => Buffer.from(digest, 'hex'));
        const rows = await db.rows<Found & { digest: string }>(query, [hashes], options);
        const byDigest = new Map(rows.map((row) => [row.digest, row]));
        return digests.map((digest) => byDigest.get(digest));
      },
      sizeOf: () => 1,
      maxItems: 500,
      maxBytes: 500,
    });
  const tokens = createLookup<TokenRecord>('auth.token_lookups', TOKENS);
  const logins = createLookup<LoginRecord>('auth.login_lookups', LOGINS);

  return {
    token: (digest: string, options?: WriteOptions) => tokens.submit(digest, options),
    login: (digest: string, options?: WriteOptions) => logins.submit(digest, options),

    /** Stores when tokens, logins or users were last seen. */
    async recordLastSeen(
      kind: keyof typeof RECORD_LAST_SEEN,
      seen: ReadonlyMap<string, Date>,
    ): Promise<void> {
      await db.change(RECORD_LAST_SEEN[kind], [[...seen.keys()], [...seen.values()]]);
    },
  };
}
