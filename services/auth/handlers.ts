import type { Cache } from '../../lib/cache.ts';
import type { Handlers } from '../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { admit, LOCAL_ADMINISTRATOR, type User, userNotFound } from './domain.ts';
import type { AuthStore } from './store.ts';

export function createHandlers(
  store: AuthStore,
  users: Cache<User | undefined>,
): Handlers<AuthServiceDefinition> {
  const userOf = (userId: string) => users.get(userId, () => store.user(userId));

  return {
    async identify() {
      return { user: admit(await userOf(LOCAL_ADMINISTRATOR)) };
    },

    async getUser({ userId }) {
      const user = await userOf(userId);
      if (!user) throw userNotFound(userId);
      return { user };
    },
  };
}
