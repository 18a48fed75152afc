import { storable } from '../../../lib/text.ts';

/** What an identity provider says of a user. What is undefined it has not said. */
export interface Person {
  subject: string;
  displayName: string | undefined;
  /** Verified, as `loweredAddress` writes it; empty when they have none. */
  email: string | undefined;
  groups: string[] | undefined;
  /** When it has said so; undefined when it does not tell. */
  groupsAt: Date | undefined;
}

/** Who is an administrator. */
export interface Administrators {
  groups: readonly string[];
  /** As `loweredAddress` writes them. */
  emails: readonly string[];
}

export type Claims = Readonly<Record<string, unknown>>;

const SUBJECT = /^[\x20-\x7e]{1,255}$/;
const NAME_CHARACTERS = 200;
const EMAIL_CHARACTERS = 320;
/** Groups travel with every call between services. */
const GROUP_CHARACTERS = 256;
const GROUPS_CHARACTERS = 8_192;

/**
 * Reads claims; of several sources, the first one that says something counts. Undefined when they name nobody. Of
 * very many groups only some are kept, those of administrators first. No clock of a provider is believed that is ahead
 * of `now`.
 */
export function personOf(
  sources: readonly Claims[],
  groupsClaim: string,
  administrators: Administrators,
  now: Date,
): Person | undefined {
  const { sub: subject, iat: saidAt } = sources[0] ?? {};
  if (typeof subject !== 'string' || !SUBJECT.test(subject)) return undefined;
  const groups = sources.map((claims) => claims[groupsClaim]).find((groups) => groups !== undefined);
  return {
    subject,
    displayName: first(sources, nameIn),
    email: first(sources, emailIn),
    groups: groups === undefined ? undefined : groupsIn(groups, administrators),
    groupsAt: groups === undefined ? undefined : momentOf(saidAt, now),
  };
}

/** Whether the claims tell all that is wanted of a user. */
export function isComplete(claims: Claims, groupsClaim: string): boolean {
  return nameIn(claims) !== undefined && claims.email !== undefined && claims[groupsClaim] !== undefined;
}

export function isAdministrator(
  { email, groups }: { email: string; groups: readonly string[] },
  administrators: Administrators,
): boolean {
  return (
    (email !== '' && administrators.emails.includes(email)) ||
    groups.some((group) => administrators.groups.includes(group))
  );
}

/** One way of writing an address. Of ASCII letters alone: others have small ones that make it the address of somebody else. */
export function loweredAddress(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

function first(sources: readonly Claims[], read: (claims: Claims) => string | undefined) {
  for (const claims of sources) {
    const value = read(claims);
    if (value !== undefined) return value;
  }
  return undefined;
}

function nameIn({ name, preferred_username: username }: Claims): string | undefined {
  const text = [name, username].find((one) => typeof one === 'string' && one.trim() !== '');
  return typeof text === 'string' ? storable(text.trim().slice(0, NAME_CHARACTERS)) : undefined;
}

/** Seconds since the epoch. */
function momentOf(claim: unknown, now: Date): Date | undefined {
  return typeof claim === 'number' && claim > 0
    ? new Date(Math.min(claim * 1_000, now.getTime()))
    : undefined;
}

/** Some say "true" for true. */
function emailIn({ email, email_verified: verified }: Claims): string | undefined {
  if (typeof email !== 'string' || (verified !== true && verified !== 'true')) return undefined;
  return email.length <= EMAIL_CHARACTERS ? loweredAddress(storable(email)) : undefined;
}

function groupsIn(claim: unknown, administrators: Administrators): string[] {
  const texts = (Array.isArray(claim) ? claim : [claim]).filter(
    (one): one is string => typeof one === 'string' && one !== '' && one.length <= GROUP_CHARACTERS,
  );
  const isFirst = (group: string) => administrators.groups.includes(group);
  const groups = new Set([...texts.filter(isFirst), ...texts].map(storable));
  let room = GROUPS_CHARACTERS;
  const kept = [...groups].filter((group) => {
    room -= Buffer.byteLength(group);
    return room >= 0;
  });
  return kept.sort();
}
