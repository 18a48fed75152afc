import { type Refusal, refuse } from '../../../lib/errors.ts';
import { type Administrators, isAdministrator, type Person } from './person.ts';
import type { Scope } from './scopes.ts';

export type Role = 'member' | 'administrator';

export interface User {
  /** usr_… */
  userId: string;
  /** Of the identity provider that knows them; undefined for the user of local mode. */
  issuer: string | undefined;
  displayName: string;
  roles: Role[];
  enabled: boolean;
  /** Verified; empty when there is none. */
  email: string;
  groups: string[];
  /** When the identity provider has said so, as far as it tells. */
  groupsAt: Date | undefined;
  createdAt: Date;
  /** To the minute; undefined: never. */
  lastSeenAt: Date | undefined;
}

/** In local mode everybody who can reach the loopback interface is this user. */
export const LOCAL_ADMINISTRATOR = 'usr_00000000000000000000000001';

export function userNotFound(userId: string): Refusal {
  return refuse('USER_NOT_FOUND', `there is no user ${userId}`);
}

/** A disabled user is nobody; neither is somebody whom another identity provider knows, or none. */
export function admit(user: User | undefined, issuer: string | undefined): User {
  if (!user?.enabled || user.issuer !== issuer) throw refuse('UNAUTHENTICATED', 'this user is disabled');
  return user;
}

/** What somebody may do whom an identity provider knows. */
export function rolesOf(
  user: { email: string; groups: readonly string[] },
  administrators: Administrators,
): Role[] {
  return isAdministrator(user, administrators) ? ['member', 'administrator'] : ['member'];
}

/** What is new in what the identity provider says of somebody: groups are not, if it has spoken of them later. */
export function withoutOutdated(person: Person, { groupsAt }: User): Person {
  const isOutdated = person.groupsAt !== undefined && groupsAt !== undefined && person.groupsAt < groupsAt;
  return isOutdated ? { ...person, groups: undefined, groupsAt: undefined } : person;
}

/** Whether it speaks of their groups, later than it was known to. */
export function isLater(person: Person, { groupsAt }: User): boolean {
  return person.groupsAt !== undefined && (groupsAt === undefined || person.groupsAt > groupsAt);
}

/** Whether the identity provider says anything about them that was not known. */
export function isNews(person: Person, { displayName, email, groups }: User): boolean {
  return (
    (person.displayName !== undefined && person.displayName !== displayName) ||
    (person.email !== undefined && person.email !== email) ||
    (person.groups !== undefined && !isSame(person.groups, groups))
  );
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

/** What is left of them with a credential of these scopes. */
export function narrowed(user: User, scopes: readonly Scope[]): User {
  if (scopes.includes('admin') || !user.roles.includes('administrator')) return user;
  return { ...user, roles: user.roles.filter((role) => role !== 'administrator') };
}

/** Refused with FORBIDDEN. */
export function checkAdministrator(roles: readonly string[]): void {
  if (!roles.includes('administrator'))
    throw refuse('FORBIDDEN', 'only an administrator may have the scope admin');
}

/** Whoever could end their own rights, or those of local mode, could lock everybody out. */
export function checkDisabling(userId: string, by: string): void {
  if (userId === by) throw refuse('RESOURCE_IN_USE', 'administrators do not enable or disable themselves');
  if (userId === LOCAL_ADMINISTRATOR) throw refuse('RESOURCE_IN_USE', 'local mode needs this user');
}
