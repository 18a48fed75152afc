import { queryOptions } from '@tanstack/react-query';
import { disableUser, enableUser, findUsers, listUsers } from '../gen/index.ts';
import { createBatch } from './batch.ts';
import { unwrapData, unwrapPage } from './client.ts';
import { pagedQuery } from './pages.ts';

/** Names rarely change. */
const NAME_STALE_MS = 300_000;
/** Search results include users after their first login. */
const SEARCH_STALE_MS = 30_000;
const USER_ID = /^usr_[0-9A-Z]{26}$/;

const pathOf = (userId: string) => ({ path: { user_id: userId } });

/** A list shows many users at once, so their names are requested together. */
const loadName = createBatch(
  async (ids) => {
    const found = await unwrapData(findUsers({ query: { id: ids } }));
    return new Map(found.map((user) => [user.user_id, user]));
  },
  { maxKeys: 100, delayMs: 10 },
);

/** Queries and mutations of users. Query keys begin with `users`. */
export const users = {
  /** For administrators. `q` is a substring of the name or the e-mail address, or an id. */
  list: (q?: string) =>
    pagedQuery(['users', 'list', q], (cursor, signal) =>
      unwrapPage(listUsers({ query: { q, cursor }, signal })),
    ),
  /** The name of a user; null for an unknown user. */
  name: (userId: string) =>
    queryOptions({
      queryKey: ['users', 'name', userId],
      queryFn: async () => (await loadName(userId)) ?? null,
      staleTime: NAME_STALE_MS,
    }),
  /** At most 20 enabled users whose name or e-mail address contains the text, or the user with this id. */
  search: (text: string) =>
    queryOptions({
      queryKey: ['users', 'search', text],
      queryFn: ({ signal }) =>
        unwrapData(findUsers({ query: USER_ID.test(text) ? { id: [text] } : { q: text }, signal })),
      staleTime: SEARCH_STALE_MS,
    }),
  disable: (userId: string) => unwrapData(disableUser(pathOf(userId))),
  enable: (userId: string) => unwrapData(enableUser(pathOf(userId))),
};
