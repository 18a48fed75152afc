import { type Refusal, refuse } from '../../lib/errors.ts';

export interface User {
  userId: string;
  displayName: string;
  roles: string[];
  enabled: boolean;
}

/** In local mode everybody who can reach the loopback interface is this user. */
export const LOCAL_ADMINISTRATOR = 'usr_00000000000000000000000001';

export function userNotFound(userId: string): Refusal {
  return refuse('USER_NOT_FOUND', `there is no user ${userId}`);
}

/** A disabled user is nobody. */
export function admit(user: User | undefined): User {
  if (!user?.enabled) throw refuse('UNAUTHENTICATED', 'this user is disabled');
  return user;
}
