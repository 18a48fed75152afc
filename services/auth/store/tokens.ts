import { type CursorScope, decodeCursor, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { type IdempotencyKey, runOnce } from '../../../lib/db/idempotency.ts';
import { refuse } from '../../../lib/errors.ts';
import { isId } from '../../../lib/ids.ts';
import type { PageRequest } from '../domain/page.ts';
import { knownScopes } from '../domain/scopes.ts';
import type { Token } from '../domain/token.ts';

type TokenRow = Omit<Token, 'scopes' | 'expiresAt' | 'lastUsedAt'> & {
  scopes: string[];
  expiresAt: Date | null;
  lastUsedAt: Date | null;
};

interface TokenCreation {
  userId: string;
  token: Token;
  /** SHA-256 of the value, in hexadecimal. */
  digest: string;
  idempotencyKey: string;
  /** The encoded request without its key. */
  request: IdempotencyKey['request'];
  /** The response to a repeated request. It contains no secret. */
  response: Uint8Array;
}

const COLUMNS = `token_id as "tokenId", name, scopes, hint, created_at as "createdAt",
  expires_at as "expiresAt", last_used_at as "lastUsedAt"`;

const INSERT = statement(
  'auth.insert_token',
  `insert into tokens (token_id, user_id, name, scopes, hint, value_hash, created_at, expires_at)
   values ($1, $2, $3, $4, $5, decode($6, 'hex'), $7, $8)`,
);

/** $2: the last token of the previous page, or END_OF_TOKENS. */
const LIST = statement(
  'auth.list_tokens',
  `select ${COLUMNS} from tokens where user_id = $1 and token_id < $2 order by token_id desc limit $3`,
);

const DELETE = statement(
  'auth.delete_token',
  `delete from tokens where user_id = $1 and token_id = $2 returning encode(value_hash, 'hex') as digest`,
);

const END_OF_TOKENS = 'tok~';

function tokenOf({ scopes, expiresAt, lastUsedAt, ...row }: TokenRow): Token {
  return {
    ...row,
    scopes: knownScopes(scopes),
    expiresAt: expiresAt ?? undefined,
    lastUsedAt: lastUsedAt ?? undefined,
  };
}

export type TokenStore = ReturnType<typeof createTokenStore>;

export function createTokenStore(db: Database) {
  return {
    /** Creates the token once per caller and Idempotency-Key. */
    create(creation: TokenCreation, options?: WriteOptions) {
      const { userId, token, digest, idempotencyKey, request, response } = creation;
      const { tokenId, name, scopes, hint, createdAt, expiresAt } = token;
      const key = { caller: userId, key: idempotencyKey, method: 'CreateToken', request, now: createdAt };
      return runOnce(
        db,
        key,
        async (tx) => {
          const values = [tokenId, userId, name, scopes, hint, digest, createdAt, expiresAt ?? null];
          await tx.change(INSERT, values);
          return response;
        },
        { ...options, viewer: { userId } },
      );
    },

    /** Newest first. */
    async list(userId: string, { limit, cursor }: PageRequest, options?: ReadOptions) {
      const scope: CursorScope = ['ListTokens', userId];
      const before = decodeCursor(scope, cursor);
      if (before !== undefined && !isId('tok', before))
        throw refuse('INVALID_CURSOR', 'The cursor is malformed or belongs to another list.');
      const values = [userId, before ?? END_OF_TOKENS, limit + 1];
      const rows = (await db.rows<TokenRow>(LIST, values, { ...options, viewer: { userId } })).map(tokenOf);
      return pageOf(rows, limit, scope, (token) => token.tokenId);
    },

    /** Deletes the token. Returns the digest of its value; undefined for an unknown token. */
    async remove(userId: string, tokenId: string, { trace }: WriteOptions = {}): Promise<string | undefined> {
      const options = { trace, viewer: { userId } };
      const [row] = await db.rows<{ digest: string }>(DELETE, [userId, tokenId], options);
      return row?.digest;
    },
  };
}
