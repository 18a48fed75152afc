import { useSuspenseQuery } from '@tanstack/react-query';
import { type LoginSession, login } from '../../api/login.ts';

/** Returns the current user and their permissions. */
export function viewerOf({ mode, user }: LoginSession) {
  const isTeam = mode === 'oidc';
  return {
    user,
    isTeam,
    isLoginRequired: isTeam && user === null,
    isAdministrator: user?.roles.includes('administrator') ?? false,
  };
}

/** The current user and their permissions. */
export const useViewer = () => viewerOf(useSuspenseQuery(login).data);
