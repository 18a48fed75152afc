import { disableUser, enableUser, listUsers } from '../gen/index.ts';
import { ask, askPage } from './client.ts';
import { pagesOf } from './pages.ts';

const at = (userId: string) => ({ path: { user_id: userId } });

/** What administrators can see of users, and do about them. Keys begin with `users`. */
export const users = {
  /** By a part of the name or of the address, or by id. */
  list: (q?: string) =>
    pagesOf(['users', 'list', q], (cursor, signal) => askPage(listUsers({ query: { q, cursor }, signal }))),
  disable: (userId: string) => ask(disableUser(at(userId))),
  enable: (userId: string) => ask(enableUser(at(userId))),
};
