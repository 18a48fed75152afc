import { type CursorScope, decodeCursor, pageOf } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { likePattern } from '../../../lib/db/like.ts';
import { refuse } from '../../../lib/errors.ts';
import { isId } from '../../../lib/ids.ts';
import type { PageRequest } from '../domain/page.ts';
import type { Administrators, Person } from '../domain/person.ts';
import { rolesOf, type User } from '../domain/user.ts';

/** With null for undefined. */
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

/** What the identity provider has not said stays as it is, and so do groups of which it has spoken later. */
const MEET = statement(
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

/** $1 the last user seen or the end of all ids, $2 the pattern and $3 the text searched for. */
const LIST = statement(
  'auth.list_users',
  `select ${USER_COLUMNS} from users
   where user_id < $1 and ($3 = '' or display_name ilike $2 or email ilike $2 or user_id = $3)
   order by user_id desc limit $4`,
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

export type UserStore = ReturnType<typeof createUserStore>;

/** Roles are those that the settings give now, but for the user of local mode. */
export function createUserStore(db: Database, administrators: Administrators) {
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
    /** Which of these are disabled. */
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

    /** Writes down what the identity provider says. The id is for somebody who comes for the first time. */
    async meet(userId: string, issuer: string, person: Person, now: Date, { trace }: WriteOptions = {}) {
      const { subject, displayName, email, groups, groupsAt } = person;
      const said = [displayName ?? null, email ?? null, groups ?? null, now, groupsAt ?? null];
      const values = [userId, issuer, subject, ...said];
      const [row] = await db.rows<UserRow>(MEET, values, { trace });
      if (!row) throw new Error('a user that was written down is not there');
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
