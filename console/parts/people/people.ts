import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { users } from '../../api/users.ts';
import type { User } from '../../gen/index.ts';
import { useViewer } from './viewer.ts';

const NOBODY: readonly User[] = [];
/** People hardly ever change their names. */
const KNOWN_MS = 60_000;

/** The first users whom some words fit, as far as the viewer may know them: that is for administrators. */
export function usePeople(q?: string, isWanted = true): readonly User[] {
  const { data } = useUsers(q, isWanted);
  return data?.pages[0]?.items ?? NOBODY;
}

/** A user, as far as the viewer may know them. Whoever is not among the newest is asked for alone. */
export function usePerson(id: string | null): User | undefined {
  const { data, isPending } = useUsers(undefined, id !== null);
  const newest = id === null ? undefined : userIn(data?.pages[0]?.items, id);
  const asked = useUsers(id ?? undefined, id !== null && !isPending && newest === undefined);
  return newest ?? (id === null ? undefined : userIn(asked.data?.pages[0]?.items, id));
}

function useUsers(q: string | undefined, isWanted: boolean) {
  const { isAdministrator, isTeam } = useViewer();
  return useInfiniteQuery({
    ...users.list(q),
    enabled: isWanted && isAdministrator && isTeam,
    staleTime: KNOWN_MS,
    placeholderData: keepPreviousData,
  });
}

const userIn = (known: readonly User[] | undefined, id: string) =>
  known?.find(({ user_id: one }) => one === id);
