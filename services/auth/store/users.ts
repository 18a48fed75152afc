import { type CursorScope, decodeCursor, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { refuse } from '../../../lib/errors.ts';
import { isId } from '../../../lib/ids.ts';
import type { PageRequest } from '../domain/page.ts';
import type { Administrators, ProviderProfile } from '../domain/provider-profile.ts';
import { rolesOf, type User } from '../domain/user.ts';

/** A row has null where User has undefined. */
type UserRow = Omit<User, 'issuer' | 'groupsAt' | 'lastSeenAt'> & {
  issuer: string | null;
  groupsAt: Date | null;
  lastSeenAt: Date | null;
};

const USER_COLUMNS = `user_id as "userId", issuer, display_name as "displayName", roles, enabled, email, groups,
  groups_at as "groupsAt", created_at as "createdAt", last_seen_at as "lastSeenAt"`;

const BY_SUBJECT = statement(
  'auth.user_by_subject',
  `select ${USER_COLUMNS} from users where issuer = $1 and subject = $2`,
);

/** Absent claims do not change the stored values. Newer groups are not replaced by older ones. */
const UPSERT = statement(
  'auth.meet_user',
  `insert into users as known (user_id, issuer, subject, display_name, roles, email, groups, created_at, last_seen_at, groups_at)
   values ($1, $2, $3, coalesce($4::text, nullif($5, ''), $3), '{}', coalesce($5::text, ''), coalesce($6::text[], '{}'), $7, $7, $8)
   on conflict (issuer, subject) do update set
     display_name = coalesce($4, known.display_name), email = coalesce($5, known.email),
     groups = case when known.groups_at > $8 then known.groups else coalesce($6, known.groups) end,
     groups_at = greatest(known.groups_at, $8)
   returning ${USER_COLUMNS}`,
);

const BY_ID = statement('auth.user_by_id', `select ${USER_COLUMNS} from users where user_id = $1`);

/** $1: the last user of the previous page, or END_OF_USERS. $2: the search pattern. $3: the search text. */
const LIST = statement(
  'auth.list_users',
  `select ${USER_COLUMNS} from users
   where user_id < $1 and ($3 = '' or display_name ilike $2 or email ilike $2 or user_id = $3)
   order by user_id desc limit $4`,
);

const NAME_COLUMNS = 'user_id as "userId", display_name as "displayName", email';
const MAX_FOUND = 20;

/** $1: END_OF_USERS. $2: the search pattern. $3: the identity provider, or null in local mode, which has one user. */
const FIND = statement(
  'auth.find_users',
  `select ${NAME_COLUMNS} from users
   where user_id < $1 and enabled and issuer is not distinct from $3 and (display_name ilike $2 or email ilike $2)
   order by user_id desc limit ${MAX_FOUND}`,
);

const NAMED = statement(
  'auth.named_users',
  `select ${NAME_COLUMNS} from users where user_id = any ($1::text[]) order by user_id desc`,
);

const SET_ENABLED = statement(
  'auth.set_user_enabled',
  `update users set enabled = $2 where user_id = $1 returning ${USER_COLUMNS}`,
);

const DISABLED = statement(
  'auth.disabled_users',
  'select user_id as "userId" from users where user_id = any ($1::text[]) and not enabled',
);

const END_OF_USERS = 'usr~';

/** A user as other users see them. */
export type UserName = Pick<User, 'userId' | 'displayName' | 'email'>;

export type UserStore = ReturnType<typeof createUserStore>;

/**
 * Roles follow from the current settings, except for the user of local mode. `issuer` is the identity provider, undefined
 * in local mode.
 */
export function createUserStore(db: Database, administrators: Administrators, issuer?: string) {
  function userOf({ issuer, groupsAt, lastSeenAt, ...row }: UserRow): User {
    const roles = issuer === null ? row.roles : rolesOf(row, administrators);
    return {
      ...row,
      roles,
      issuer: issuer ?? undefined,
      groupsAt: groupsAt ?? undefined,
      lastSeenAt: lastSeenAt ?? undefined,
    };
  }

  return {
    /** Returns the disabled users among these. */
    async disabled(userIds: readonly string[], options?: ReadOptions): Promise<string[]> {
      const rows = await db.rows<Pick<User, 'userId'>>(DISABLED, [userIds], options);
      return rows.map(({ userId }) => userId);
    },

    async bySubject(
      issuer: string,
      subject: string,
      { trace }: WriteOptions = {},
    ): Promise<User | undefined> {
      const [row] = await db.rows<UserRow>(BY_SUBJECT, [issuer, subject], { trace });
      return row && userOf(row);
    },

    /** Creates or updates the user of a profile. A new user gets `userId`. */
    async upsert(
      userId: string,
      issuer: string,
      profile: ProviderProfile,
      now: Date,
      { trace }: WriteOptions = {},
    ) {
      const { subject, displayName, email, groups, groupsAt } = profile;
      const claims = [displayName ?? null, email ?? null, groups ?? null, now, groupsAt ?? null];
      const values = [userId, issuer, subject, ...claims];
      const [row] = await db.rows<UserRow>(UPSERT, values, { trace });
      if (!row) throw new Error('the upsert of a user returned no row');
      return userOf(row);
    },

    async user(userId: string, options?: ReadOptions): Promise<User | undefined> {
      const [row] = await db.rows<UserRow>(BY_ID, [userId], options);
      return row && userOf(row);
    },

    /** Newest first. */
    async list(caller: string, q: string, { limit, cursor }: PageRequest, options?: ReadOptions) {
      const scope: CursorScope = ['ListUsers', caller, q];
      const before = decodeCursor(scope, cursor);
      if (before !== undefined && !isId('usr', before))
        throw refuse('INVALID_CURSOR', 'The cursor is malformed or belongs to another list.');
      const values = [before ?? END_OF_USERS, likePattern(q), q, limit + 1];
      const rows = (await db.rows<UserRow>(LIST, values, options)).map(userOf);
      return pageOf(rows, limit, scope, (user) => user.userId);
    },

    /** At most 20 enabled users whose name or e-mail address contains the text, newest first. */
    find: (q: string, options?: ReadOptions) =>
      db.rows<UserName>(FIND, [END_OF_USERS, likePattern(q), issuer ?? null], options),

    /** Those of these users that exist, also disabled ones, newest first. */
    named: (userIds: readonly string[], options?: ReadOptions) =>
      db.rows<UserName>(NAMED, [userIds], options),

    /** Undefined for an unknown user. */
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
