import { refuse } from '../../../lib/errors.ts';
import { administratorOf, callerOf } from '../../../lib/grpc/caller.ts';
import type { Handlers } from '../../../lib/grpc/contract.ts';
import { isId } from '../../../lib/ids.ts';
import type { AuthServiceDefinition } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { checkFind, checkPage, checkSearch } from '../domain/page.ts';
import { checkCanChangeStatus, userNotFound } from '../domain/user.ts';
import type { AuthHandlerContext } from './context.ts';

type Methods = Pick<
  Handlers<AuthServiceDefinition>,
  'getUser' | 'listUsers' | 'findUsers' | 'setUserEnabled' | 'listDisabledUsers'
>;

const MAX_USER_IDS = 1_000;

export function userHandlers({ users, record, announce }: AuthHandlerContext): Methods {
  return {
    /** Always reads the database: callers cache the response and must not cache data that is already old. */
    async getUser({ userId }, call) {
      const user = isId('usr', userId) ? await users.user(userId, call) : undefined;
      if (!user) throw userNotFound(userId);
      return { user };
    },

    async listDisabledUsers({ userIds }, call) {
      if (userIds.length > MAX_USER_IDS)
        throw refuse('INVALID_REQUEST', `The request has more than ${MAX_USER_IDS} user ids.`);
      return { userIds: await users.disabled(userIds, call) };
    },

    async listUsers({ page, q }, call) {
      const { userId } = administratorOf(call);
      checkSearch(q);
      const { rows, nextCursor } = await users.list(userId, q, checkPage(page), call);
      return { users: rows, page: { nextCursor } };
    },

    async findUsers({ q, userIds }, call) {
      callerOf(call);
      checkFind({ q, userIds });
      const found = userIds.length > 0 ? await users.named(userIds, call) : await users.find(q.trim(), call);
      return { users: found };
    },

    /** Clears caches even when nothing changes: an equal request may be open, or its response may be lost. */
    async setUserEnabled({ userId, enabled }, call) {
      checkCanChangeStatus(userId, administratorOf(call).userId);
      if (!isId('usr', userId)) throw userNotFound(userId);
      await record({ action: enabled ? 'user.enable' : 'user.disable', targetId: userId }, call);
      const user = await users.setEnabled(userId, enabled, call);
      if (!user) throw userNotFound(userId);
      await announce('users.changed', userId);
      return { user };
    },
  };
}
