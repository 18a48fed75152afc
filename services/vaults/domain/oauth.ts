import type { Secret } from '../../../lib/secret.ts';

/** How this service identifies itself at a token endpoint (RFC 6749, section 2.3). */
export type ClientAuthentication = 'none' | 'client_secret_basic' | 'client_secret_post';

/** The public members of a credential of type oauth2 or oauth2_client. */
export interface OAuthMembers {
  tokenEndpoint: string;
  clientId: string;
  /** The scopes that requests for a token name. Empty: none. */
  scopes: string[];
  /** The resource that requests for a token name (RFC 8707). Empty: none. */
  resource: string;
  /** Empty: an administrator created the credential. */
  issuer: string;
  /** Empty: the issuer revokes no tokens. */
  revocationEndpoint: string;
  clientAuthentication: ClientAuthentication;
}

/** The tokens that an issuer has granted. */
export interface TokenGrant {
  accessToken: Secret;
  /** Undefined: the issuer gave none, or the earlier one stays valid. */
  refreshToken: Secret | undefined;
  /** Undefined: the issuer names no end. */
  expiresAt: Date | undefined;
  /** Undefined: the requested ones. */
  scopes: string[] | undefined;
  /** The user as the ID token names it. Empty: unknown. */
  account: string;
}

/** A token is refreshed when less than this part of its lifetime remains, or less than a minute of a longer lifetime. */
const EARLY_PART = 0.2;
const EARLY_MS = 60_000;

interface TokenLifetime {
  /** When the token was granted. Undefined: unknown. */
  lastRefreshedAt: Date | undefined;
  expiresAt: Date | undefined;
}

/** Whether an access token has ended. A token without a known end is used until its server refuses it. */
export function hasExpired({ expiresAt }: Pick<TokenLifetime, 'expiresAt'>, now: Date): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** Whether an access token should be refreshed before its next use. */
export function isRefreshDue({ lastRefreshedAt, expiresAt }: TokenLifetime, now: Date): boolean {
  if (expiresAt === undefined) return false;
  const remaining = expiresAt.getTime() - now.getTime();
  if (lastRefreshedAt === undefined) return remaining <= EARLY_MS;
  const lifetime = expiresAt.getTime() - lastRefreshedAt.getTime();
  return remaining <= Math.max(lifetime * EARLY_PART, Math.min(EARLY_MS, lifetime / 2));
}

/** The scopes of both lists, each once. */
export function unionOfScopes(...lists: readonly (readonly string[])[]): string[] {
  return [...new Set(lists.flat())];
}

/** The scopes of a space-separated list (RFC 6749, section 3.3). */
export function scopesIn(text: string): string[] {
  return unionOfScopes(text.split(' ').filter((scope) => scope !== ''));
}
