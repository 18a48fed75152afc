import { queryOptions } from '@tanstack/react-query';
import { getLogin, logOut } from '../gen/index.ts';
import { ask } from './client.ts';

/** Who is asking. Never refused. */
export const login = queryOptions({
  queryKey: ['login'],
  queryFn: ({ signal }) => ask(getLogin({ signal })),
  staleTime: 60_000,
});

export const leave = () => ask(logOut());
