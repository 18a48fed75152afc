import { refuse } from '../../../lib/errors.ts';
import { administratorOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { checkPage, checkSearch } from '../domain/page.ts';
import { checkDisabling, userNotFound } from '../domain/user.ts';
import type { HandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<AuthServiceDefinition>,
  'getUser' | 'listUsers' | 'setUserEnabled' | 'listDisabledUsers'
>;

const MAX_ASKED = 1_000;

export function userHandlers({ users, record, announce }: HandlerContext): Methods {
  return {
    /** Read anew each time: whoever asks keeps the answer, and must not keep what was old already. */
    async getUser({ userId }, call) {
      const user = isId('usr', userId) ? await users.user(userId, call) : undefined;
      if (!user) throw userNotFound(userId);
      return { user };
    },

    async listDisabledUsers({ userIds }, call) {
      if (userIds.length > MAX_ASKED)
        throw refuse('INVALID_REQUEST', `at most ${MAX_ASKED} users are asked for`);
      return { userIds: await users.disabled(userIds, call) };
    },

    async listUsers({ page, q }, call) {
      const { userId } = administratorOf(call);
      checkSearch(q);
      const { rows, nextCursor } = await users.list(userId, q, checkPage(page), call);
      return { users: rows, page: { nextCursor } };
    },

    /** Announced even if nothing seems to change: an equal request may be under way, or its answer lost. */
    async setUserEnabled({ userId, enabled }, call) {
      checkDisabling(userId, administratorOf(call).userId);
      if (!isId('usr', userId)) throw userNotFound(userId);
      await record({ action: enabled ? 'user.enable' : 'user.disable', targetId: userId }, call);
      const user = await users.setEnabled(userId, enabled, call);
      if (!user) throw userNotFound(userId);
      await announce('users.changed', userId);
      return { user };
    },
  };
}
