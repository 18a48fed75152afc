import { type Database, type ReadOptions, statement } from '../../lib/db/database.ts';
import type { User } from './domain.ts';

const BY_ID = statement(
  'auth.user_by_id',
  `select user_id as "userId", display_name as "displayName", roles, enabled from users where user_id = $1`,
);

export type AuthStore = ReturnType<typeof createStore>;

export function createStore(db: Database) {
  return {
    async user(userId: string, options?: ReadOptions): Promise<User | undefined> {
      const [user] = await db.rows<User>(BY_ID, [userId], options);
      return user;
    },
  };
}
