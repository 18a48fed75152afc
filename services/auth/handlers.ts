import type { Cache } from '../../lib/cache.ts';
import type { Call, Handlers } from '../../lib/grpc/contract.ts';
import type { AuthServiceDefinition } from '../../proto/gen/ahs/auth/v1/auth.ts';
import { admit, LOCAL_ADMINISTRATOR, type User, userNotFound } from './domain.ts';
import type { AuthStore } from './store.ts';

export function createHandlers(
  store: AuthStore,
  users: Cache<User | undefined>,
): Handlers<AuthServiceDefinition> {
  /** What is read is for others, too: it has a place in the trace of whoever came first, and does not end with them. */
  const userOf = (userId: string, { trace }: Call) => users.get(userId, () => store.user(userId, { trace }));

  return {
    async identify(_, call) {
      return { user: admit(await userOf(LOCAL_ADMINISTRATOR, call)) };
    },

    async getUser({ userId }, call) {
      const user = await userOf(userId, call);
      if (!user) throw userNotFound(userId);
      return { user };
    },
  };
}
