import { useQueries, useQuery } from '@tanstack/react-query';
import { users } from '../../api/users.ts';
import { nameOf } from './people-search.ts';

/** Queries the name of a user. The data is null for an unknown user. */
export const useUser = (id: string | null) => useQuery({ ...users.name(id ?? ''), enabled: id !== null });

/** Returns a function that returns the name of each of these users, or the id of an unknown user. */
export function useUserNames(ids: readonly string[]): (id: string) => string {
  const results = useQueries({ queries: ids.map((id) => users.name(id)) });
  const names = new Map(ids.map((id, index) => [id, results[index]?.data]));
  return (id) => nameOf(names.get(id)) ?? id;
}
