import { useInfiniteQuery } from '@tanstack/react-query';
import { users } from '../../api/users.ts';
import type { User } from '../../gen/index.ts';
import { useViewer } from './viewer.ts';

const NOBODY: readonly User[] = [];

/** Users by name, as far as the viewer may know them: administrators, and the newest of them. */
export function usePeople(): readonly User[] {
  const { isAdministrator, isTeam } = useViewer();
  const { data } = useInfiniteQuery({
    ...users.list(),
    enabled: isAdministrator && isTeam,
    staleTime: 60_000,
  });
  return data?.pages[0]?.items ?? NOBODY;
}
