import { type CursorScope, decodeCursor, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { refuse } from '../../../lib/errors.ts';
import { isId } from '../../../lib/ids.ts';
import type { PageRequest } from '../domain/page.ts';
import type { User } from '../domain/user.ts';

/** With null for undefined. */
export type UserRow = Omit<User, 'issuer' | 'lastSeenAt'> & {
  issuer: string | null;
  lastSeenAt: Date | null;
};

export const USER_COLUMNS = `user_id as "userId", issuer, display_name as "displayName", roles, enabled, email, groups,
  created_at as "createdAt", last_seen_at as "lastSeenAt"`;

const BY_ID = statement('auth.user_by_id', `select ${USER_COLUMNS} from users where user_id = $1`);

/** $1 the last user seen or the end of all ids, $2 the pattern and $3 the text searched for. */
const LIST = statement(
  'auth.list_users',
  `select ${USER_COLUMNS} from users
   where user_id < $1 and ($3 = '' or display_name ilike $2 or email ilike $2)
   order by user_id desc limit $4`,
);

const SET_ENABLED = statement(
  'auth.set_user_enabled',
  `update users set enabled = $2 where user_id = $1 returning ${USER_COLUMNS}`,
);

const END_OF_USERS = 'usr~';

export function userOf({ issuer, lastSeenAt, ...row }: UserRow): User {
  return { ...row, issuer: issuer ?? undefined, lastSeenAt: lastSeenAt ?? undefined };
}

export type UserStore = ReturnType<typeof createUserStore>;

export function createUserStore(db: Database) {
  return {
    async user(userId: string, options?: ReadOptions): Promise<User | undefined> {
      const [row] = await db.rows<UserRow>(BY_ID, [userId], options);
      return row && userOf(row);
    },

    /** Newest first. */
    async list(caller: string, q: string, { limit, cursor }: PageRequest, options?: ReadOptions) {
      const scope: CursorScope = ['ListUsers', caller, q];
      const before = decodeCursor(scope, cursor);
      if (before !== undefined && !isId('usr', before))
        throw refuse('INVALID_CURSOR', 'the cursor is not one of this list');
      const values = [before ?? END_OF_USERS, likePattern(q), q, limit + 1];
      const rows = (await db.rows<UserRow>(LIST, values, options)).map(userOf);
      return pageOf(rows, limit, scope, (user) => user.userId);
    },

    /** Undefined when there is no such user. */
    async setEnabled(
      userId: string,
      enabled: boolean,
      { trace }: WriteOptions = {},
    ): Promise<User | undefined> {
      const [row] = await db.rows<UserRow>(SET_ENABLED, [userId, enabled], { trace });
      return row && userOf(row);
    },
  };
}
