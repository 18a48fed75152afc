import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { type GetLoginResponses, getLogin, logOut } from '../gen/index.ts';
import { ApiError, unwrapData } from './client.ts';

export type LoginSession = GetLoginResponses[200]['data'];

/** The identity of the current user. The route never returns 401. */
export const login = queryOptions({
  queryKey: ['login'],
  queryFn: ({ signal }) => unwrapData(getLogin({ signal })),
  staleTime: 60_000,
});

export const endLogin = () => unwrapData(logOut());

/**
 * Refetches the login after a 401, so that an expired login shows the login page. Requests outside of queries and mutations
 * call it, too.
 */
export function recheckLoginOn401(queries: QueryClient, error: unknown): void {
  if (error instanceof ApiError && error.status === 401)
    void queries.invalidateQueries({ queryKey: login.queryKey });
}
