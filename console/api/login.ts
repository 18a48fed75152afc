import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { getLogin, logOut } from '../gen/index.ts';
import { ApiError, ask } from './client.ts';

/** Who is asking. Never refused. */
export const login = queryOptions({
  queryKey: ['login'],
  queryFn: ({ signal }) => ask(getLogin({ signal })),
  staleTime: 60_000,
});

export const leave = () => ask(logOut());

/** Whose login has ended meanwhile is asked to log in again. For what is refused outside of queries and mutations, too. */
export function noticeLogout(queries: QueryClient, error: unknown): void {
  if (error instanceof ApiError && error.status === 401)
    void queries.invalidateQueries({ queryKey: login.queryKey });
}
