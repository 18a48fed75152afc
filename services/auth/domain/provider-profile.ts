import { toStorable } from '../../../lib/text.ts';

/** The claims of an identity provider about a user. Undefined: the provider sent no such claim. */
export interface ProviderProfile {
  subject: string;
  displayName: string | undefined;
  /** Verified and normalized by `normalizeEmail`; empty: none. */
  email: string | undefined;
  groups: string[] | undefined;
  /** The issue time of the groups; undefined: unknown. */
  groupsAt: Date | undefined;
}

/** The users who are administrators. */
export interface Administrators {
  groups: readonly string[];
  /** Normalized by `normalizeEmail`. */
  emails: readonly string[];
}

export type UserClaims = Readonly<Record<string, unknown>>;

const SUBJECT = /^[\x20-\x7e]{1,255}$/;
const NAME_CHARACTERS = 200;
const EMAIL_CHARACTERS = 320;
/** Limits for groups, which are part of every call between services. */
const GROUP_CHARACTERS = 256;
const GROUPS_CHARACTERS = 8_192;

/**
 * Reads claims. When several sources have a claim, the first one counts. Returns undefined without a valid subject. Of
 * very many groups, only some are kept, administrator groups first. An issue time after `now` counts as `now`.
 */
export function readProfile(
  sources: readonly UserClaims[],
  groupsClaim: string,
  administrators: Administrators,
  now: Date,
): ProviderProfile | undefined {
  const { sub: subject, iat: issuedAt } = sources[0] ?? {};
  if (typeof subject !== 'string' || !SUBJECT.test(subject)) return undefined;
  const groups = sources.map((claims) => claims[groupsClaim]).find((groups) => groups !== undefined);
  return {
    subject,
    displayName: first(sources, nameIn),
    email: first(sources, emailIn),
    groups: groups === undefined ? undefined : groupsIn(groups, administrators),
    groupsAt: groups === undefined ? undefined : timeOf(issuedAt, now),
  };
}

/** Whether name, e-mail address and groups are all present. */
export function isComplete(claims: UserClaims, groupsClaim: string): boolean {
  return nameIn(claims) !== undefined && claims.email !== undefined && claims[groupsClaim] !== undefined;
}

export function isListedAdministrator(
  { email, groups }: { email: string; groups: readonly string[] },
  administrators: Administrators,
): boolean {
  return (
    (email !== '' && administrators.emails.includes(email)) ||
    groups.some((group) => administrators.groups.includes(group))
  );
}

/** Lowercases ASCII letters only: lowercasing other letters could produce the address of another user. */
export function normalizeEmail(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function first(sources: readonly UserClaims[], read: (claims: UserClaims) => string | undefined) {
  for (const claims of sources) {
    const value = read(claims);
    if (value !== undefined) return value;
  }
  return undefined;
}

function nameIn({ name, preferred_username: username }: UserClaims): string | undefined {
  const text = [name, username].find((text) => typeof text === 'string' && text.trim() !== '');
  return typeof text === 'string' ? toStorable(text.trim().slice(0, NAME_CHARACTERS)) : undefined;
}

/** `claim` is in seconds since the epoch. */
function timeOf(claim: unknown, now: Date): Date | undefined {
  return typeof claim === 'number' && claim > 0
    ? new Date(Math.min(claim * 1_000, now.getTime()))
    : undefined;
}

/** Some providers send the string "true". */
function emailIn({ email, email_verified: verified }: UserClaims): string | undefined {
  if (typeof email !== 'string' || (verified !== true && verified !== 'true')) return undefined;
  return email.length <= EMAIL_CHARACTERS ? normalizeEmail(toStorable(email)) : undefined;
}

function groupsIn(claim: unknown, administrators: Administrators): string[] {
  const texts = (Array.isArray(claim) ? claim : [claim]).filter(
    (group): group is string => typeof group === 'string' && group !== '' && group.length <= GROUP_CHARACTERS,
  );
  const isOfAdministrators = (group: string) => administrators.groups.includes(group);
  const groups = new Set([...texts.filter(isOfAdministrators), ...texts].map(toStorable));
  let available = GROUPS_CHARACTERS;
  const accepted = [...groups].filter((group) => {
    available -= Buffer.byteLength(group);
    return available >= 0;
  });
  return accepted.sort();
}
