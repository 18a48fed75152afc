import { type Refusal, refuse } from '../../../lib/errors.ts';
import { type Administrators, isListedAdministrator, type ProviderProfile } from './provider-profile.ts';
import type { Scope } from './scopes.ts';

type Role = 'member' | 'administrator';

export interface User {
  /** usr_… */
  userId: string;
  /** Issuer of the identity provider; undefined for the user of local mode. */
  issuer: string | undefined;
  displayName: string;
  roles: Role[];
  enabled: boolean;
  /** Verified; empty: none. */
  email: string;
  groups: string[];
  /** Issue time of the groups; undefined: unknown. */
  groupsAt: Date | undefined;
  createdAt: Date;
  /** To the minute; undefined: never. */
  lastSeenAt: Date | undefined;
}

/** The user of every request in local mode. */
export const LOCAL_ADMINISTRATOR = 'usr_00000000000000000000000001';

export function userNotFound(userId: string): Refusal {
  return refuse('USER_NOT_FOUND', `Unknown user ${userId}.`);
}

/** Returns the user. Fails with UNAUTHENTICATED for unknown and disabled users and for users of another issuer. */
export function requireEnabledUser(user: User | undefined, issuer: string | undefined): User {
  if (!user?.enabled || user.issuer !== issuer)
    throw refuse('UNAUTHENTICATED', 'The user is unknown or disabled.');
  return user;
}

/** Roles of a user of the identity provider. */
export function rolesOf(
  user: { email: string; groups: readonly string[] },
  administrators: Administrators,
): Role[] {
  return isListedAdministrator(user, administrators) ? ['member', 'administrator'] : ['member'];
}

/** Drops the groups of the profile when newer groups are stored. */
export function withoutOutdatedGroups(profile: ProviderProfile, { groupsAt }: User): ProviderProfile {
  const isOutdated = profile.groupsAt !== undefined && groupsAt !== undefined && profile.groupsAt < groupsAt;
  return isOutdated ? { ...profile, groups: undefined, groupsAt: undefined } : profile;
}

/** Whether the groups of the profile were issued after the stored groups. */
export function hasNewerGroups(profile: ProviderProfile, { groupsAt }: User): boolean {
  return profile.groupsAt !== undefined && (groupsAt === undefined || profile.groupsAt > groupsAt);
}

/** Whether the profile differs from the stored user. */
export function hasChanges(profile: ProviderProfile, { displayName, email, groups }: User): boolean {
  return (
    (profile.displayName !== undefined && profile.displayName !== displayName) ||
    (profile.email !== undefined && profile.email !== email) ||
    (profile.groups !== undefined && !isSame(profile.groups, groups))
  );
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index]);
}

/** Removes the role administrator from users with a credential without the scope admin. */
export function restrictRoles(user: User, scopes: readonly Scope[]): User {
  if (scopes.includes('admin') || !user.roles.includes('administrator')) return user;
  return { ...user, roles: user.roles.filter((role) => role !== 'administrator') };
}

/** Fails with FORBIDDEN. */
export function checkAdminScopeAllowed(roles: readonly string[]): void {
  if (!roles.includes('administrator'))
    throw refuse('FORBIDDEN', 'Only administrators can create tokens with the scope admin.');
}

/** Prevents lock-outs: administrators cannot change themselves, and the user of local mode cannot be changed. */
export function checkCanChangeStatus(userId: string, callerId: string): void {
  if (userId === callerId)
    throw refuse('RESOURCE_IN_USE', 'Administrators cannot enable or disable themselves.');
  if (userId === LOCAL_ADMINISTRATOR)
    throw refuse('RESOURCE_IN_USE', 'The user of local mode cannot be disabled.');
}
