import { useSuspenseQuery } from '@tanstack/react-query';
import { login } from '../../api/login.ts';

/** Who looks at the console, and what they may do there. */
export function useViewer() {
  const { data } = useSuspenseQuery(login);
  return {
    user: data.user,
    isTeam: data.mode === 'oidc',
    isAdministrator: data.user?.roles.includes('administrator') ?? false,
  };
}
