import { createLocalJWKSet, errors, type JWTPayload, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { createCache } from '../../../lib/cache.ts';
import type { Clock } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
import type { ErrorCode } from '../../../lib/error-codes.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import { LruCache } from '../../../lib/lru.ts';
import { once } from '../../../lib/once.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { UserClaims } from '../domain/provider-profile.ts';
import { isScope, type Scope } from '../domain/scopes.ts';
import type { UserSync } from '../user-sync.ts';
import { type LimitedProvider, type QuerySource, UNLIMITED, UndecidedRejection } from './limited-provider.ts';
import { CLOCK_TOLERANCE_SECONDS, type DiscoveredProvider, SIGNATURE_ALGORITHMS } from './provider.ts';
import { describeFailure } from './provider-error.ts';
import { tokenFormOf } from './token-form.ts';

/** The user and the scopes of an access token. */
interface TokenRights {
  userId: string;
  scopes: Scope[];
}

interface Verified extends TokenRights {
  /** The audiences of the token. It is rejected for a request that accepts none of them. */
  audiences: readonly string[];
  /** The token is verified again from then on, in milliseconds since the epoch. */
  validUntil: number;
}

/** An active token, for any audience. */
interface Introspected {
  audiences: readonly string[];
  validUntil: number;
  /** Creates the user when the token is used for the first time. */
  rights(): Promise<TokenRights>;
}

interface AccessTokensContext {
  provider: LimitedProvider;
  userSync: UserSync;
  clock: Clock;
  log: Log;
  audience: string;
  scopePrefix: string;
  /** Whether tokens that are not JWTs are verified by introspection. */
  introspection: boolean;
  /** Cache time of introspection results. */
  introspectionCacheMs: number;
}

/** A presented token. */
export interface TokenRequest {
  trace: Trace;
  /** The URL of a protocol endpoint. A token is accepted with this audience, too. */
  resource?: string | undefined;
  /** IP address of the client. */
  address?: string | undefined;
  /** The check of a long-lived response. Its token has been verified, perhaps by another process. */
  again?: boolean | undefined;
}

interface Rejection {
  code: ErrorCode;
  message: string;
  /** Milliseconds since the epoch. */
  endsAt: number;
  /** The audiences of a valid token. The rejection does not apply to requests that accept one of them. */
  audiences: readonly string[];
}

/** A rejection of a valid token that was made for other services or endpoints. */
class ForeignAudience extends Refusal {
  readonly audiences: readonly string[];

  constructor(audiences: readonly string[]) {
    super('UNAUTHENTICATED', INVALID);
    this.audiences = audiences;
  }
}

const INVALID = 'The access token is invalid or made for another service.';

/** Each of the caches holds at most this many tokens. */
const MAX_CACHED_TOKENS = 10_000;
/** The same token is rejected for this long without another query. */
const REJECTION_MS = 60_000;
const TYPES = ['at+jwt', 'jwt'];
/** Claims that only ID tokens have. */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash'];

export type AccessTokens = ReturnType<typeof createAccessTokenVerifier>;

/**
 * Verifies access tokens of the identity provider. A JWT is verified once and then cached until it expires. Rejections are
 * cached for a minute. Caches contain digests, never tokens. They hold the audiences of each token, which are compared with
 * those that each request accepts, so a token that was verified for one resource does not count for another one.
 */
export function createAccessTokenVerifier(context: AccessTokensContext) {
  const { provider, userSync, clock, log, audience, scopePrefix, introspection } = context;
  const verifiedJwts = new LruCache<string, Verified>(MAX_CACHED_TOKENS);
  const introspected = createCache<Introspected>(clock, context.introspectionCacheMs);
  const rejections = new LruCache<string, Rejection>(MAX_CACHED_TOKENS);
  /** Tokens that were valid when they were last verified. Their queries are not limited. */
  const known = new LruCache<string, true>(MAX_CACHED_TOKENS);

  const isAccepted = (audiences: readonly string[], { resource }: TokenRequest) =>
    audiences.includes(audience) || (resource !== undefined && audiences.includes(resource));

  async function verifyJwt(token: string, digest: string, source: QuerySource, request: TokenRequest) {
    const claims = await claimsOf(token, source);
    const audiences = audiencesIn(claims);
    if (!isAccepted(audiences, request)) throw new ForeignAudience(audiences);
    const validUntil = Number(claims.exp) * 1_000;
    const found = { ...(await userOf(claims, request)), audiences, validUntil };
    verifiedJwts.set(digest, found);
    return found;
  }

  async function verifyOpaque(token: string, digest: string, source: QuerySource, request: TokenRequest) {
    // Concurrent requests for different resources share the query, so it is made without regard to the audience.
    const found = await introspected.get(digest, (startedAt) =>
      introspect(token, source, request.trace, startedAt),
    );
    const { audiences, validUntil } = found;
    if (!isAccepted(audiences, request)) throw new ForeignAudience(audiences);
    return { ...(await found.rights()), audiences, validUntil };
  }

  async function claimsOf(token: string, source: QuerySource): Promise<JWTPayload> {
    try {
      const loaded = await provider.withKeys(source);
      return await verifySignature(token, loaded).catch(async (error: unknown) => {
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        await provider.reloadKeys(loaded.keys, source);
        return verifySignature(token, loaded);
      });
    } catch (error) {
      throw refusalOf(error);
    }
  }

  /** Uses only loaded keys, because `RemoteJWKSet` would load unknown keys without regard to the limit. */
  async function verifySignature(token: string, { keys, issuer }: DiscoveredProvider): Promise<JWTPayload> {
    const loadedKeys = createLocalJWKSet(keys.jwks() ?? { keys: [] });
    const { payload, protectedHeader } = await jwtVerify(token, loadedKeys, {
      issuer,
      algorithms: SIGNATURE_ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: clock.now(),
      requiredClaims: ['exp', 'sub'],
    });
    if (!isAccessToken(payload, protectedHeader.typ)) throw invalidToken();
    return payload;
  }

  async function introspect(
    token: string,
    source: QuerySource,
    trace: Trace,
    startedAt: number,
  ): Promise<Introspected> {
    const response = await introspectionOf(token, source);
    const isExpired = response.exp !== undefined && response.exp * 1_000 <= clock.now().getTime();
    const isBearer =
      (response.token_type ?? 'bearer').toLowerCase() === 'bearer' && response.cnf === undefined;
    if (!response.active || isExpired || !isBearer) throw invalidToken();
    const validUntil = startedAt + context.introspectionCacheMs;
    return { audiences: audiencesIn(response), validUntil, rights: once(() => userOf(response, { trace })) };
  }

  async function introspectionOf(token: string, source: QuerySource) {
    try {
      const { response, issuer } = await provider.introspect(token, source);
      if (response.iss !== undefined && response.iss !== issuer) throw invalidToken();
      return response;
    } catch (error) {
      const refusal = refusalOf(error);
      // Few opaque tokens have a dot: an unknown token with one is more likely an incomplete JWT.
      const isDoubtful = source !== UNLIMITED && token.includes('.');
      throw refusal.code === 'DEPENDENCY_UNAVAILABLE' && isDoubtful
        ? new UndecidedRejection(INVALID)
        : refusal;
    }
  }

  async function userOf(claims: UserClaims, options: { trace: Trace }): Promise<TokenRights> {
    const user = await userSync.syncAccessToken(claims, options);
    if (!user) throw invalidToken();
    return { userId: user.userId, scopes: scopesIn(claims, scopePrefix) };
  }

  /** The refusal has no cause, because errors of the libraries contain tokens. */
  function refusalOf(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (error instanceof errors.JWTExpired) return refuse('TOKEN_EXPIRED', 'The access token has expired.');
    if (error instanceof errors.JOSEError && !PROVIDER_ERROR_CODES.has(error.code)) return invalidToken();
    if (error instanceof openid.ResponseBodyError && REJECTING_ERRORS.has(error.error)) return invalidToken();
    log.warn(
      { reason: describeFailure(error) },
      'an access token could not be verified with the identity provider',
    );
    return refuse(
      'DEPENDENCY_UNAVAILABLE',
      'The identity provider cannot be reached to verify the access token.',
    );
  }

  return {
    /** Fails with UNAUTHENTICATED or TOKEN_EXPIRED, or with DEPENDENCY_UNAVAILABLE when the provider is needed. */
    async verify(token: string, request: TokenRequest): Promise<Verified> {
      const { address = '', again } = request;
      const digest = sha256(token);
      const now = clock.now().getTime();
      const cached = verifiedJwts.get(digest);
      if (cached && cached.validUntil > now) {
        if (!isAccepted(cached.audiences, request)) throw invalidToken();
        return cached;
      }
      const rejection = rejections.get(digest);
      if (rejection && rejection.endsAt > now && !isAccepted(rejection.audiences, request))
        throw refuse(rejection.code, rejection.message);
      const form = tokenFormOf(token);
      if (form === 'malformed' || (form === 'opaque' && !introspection)) throw invalidToken();
      const source = again || known.has(digest) ? UNLIMITED : address;
      try {
        const verifyForm = form === 'jwt' ? verifyJwt : verifyOpaque;
        const found = await verifyForm(token, digest, source, request);
        known.set(digest, true);
        return found;
      } catch (error) {
        if (isFinalRejection(error)) {
          const { code, message } = error;
          const audiences = error instanceof ForeignAudience ? error.audiences : [];
          rejections.set(digest, { code, message, endsAt: now + REJECTION_MS, audiences });
          if (audiences.length === 0) known.delete(digest);
        }
        throw error;
      }
    },
  };
}

/** Error codes of jose for responses of the provider, not for the token. */
const PROVIDER_ERROR_CODES = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT']);

/** OAuth errors of the introspection endpoint that concern the token. */
const REJECTING_ERRORS = new Set(['invalid_request', 'invalid_token', 'unsupported_token_type']);

function invalidToken(): Refusal {
  return refuse('UNAUTHENTICATED', INVALID);
}

/** Whether the same token would be rejected again. */
function isFinalRejection(error: unknown): error is Refusal {
  if (!(error instanceof Refusal) || error instanceof UndecidedRejection) return false;
  return error.code === 'UNAUTHENTICATED' || error.code === 'TOKEN_EXPIRED';
}

/** ID tokens are no access tokens. Tokens bound to a key (`cnf`) are rejected, because the key is not checked. */
function isAccessToken(claims: JWTPayload, type: string | undefined): boolean {
  const kind = type?.toLowerCase().replace(/^application\//, '') ?? 'jwt';
  const isIdToken = claims.typ === 'ID' || ID_TOKEN_CLAIMS.some((claim) => claims[claim] !== undefined);
  return TYPES.includes(kind) && !isIdToken && claims.cnf === undefined;
}

function audiencesIn({ aud }: { aud?: unknown }): string[] {
  return [aud].flat().filter((audience): audience is string => typeof audience === 'string');
}

function scopesIn({ scope, scp }: UserClaims, prefix: string): Scope[] {
  const texts = [scope, scp].flat().flatMap((text) => (typeof text === 'string' ? text.split(' ') : []));
  return texts.flatMap((text) => {
    const name = text.startsWith(prefix) ? text.slice(prefix.length) : '';
    return isScope(name) ? [name] : [];
  });
}
