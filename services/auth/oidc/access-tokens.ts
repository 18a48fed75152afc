import { errors, type JWTPayload, jwtVerify } from 'jose';
import * as openid from 'openid-client';
import { createCache } from '../../../lib/cache.ts';
import type { Clock } from '../../../lib/clock.ts';
import { sha256 } from '../../../lib/digest.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Log } from '../../../lib/log.ts';
import type { Trace } from '../../../lib/trace.ts';
import type { Claims } from '../domain/person.ts';
import { isScope, type Scope } from '../domain/scopes.ts';
import type { People } from '../people.ts';
import { reasonOf } from './failure.ts';
import { ALGORITHMS, type Provider, TOLERANCE_SECONDS } from './provider.ts';

/** Whose an access token is, and what it is good for. */
export interface Verified {
  userId: string;
  scopes: Scope[];
}

export interface AccessTokensContext {
  provider: Provider;
  people: People;
  clock: Clock;
  log: Log;
  audience: string;
  scopePrefix: string;
  /** Whether the provider is asked about tokens that are not JWTs. */
  introspection: boolean;
  /** For so long it is believed what the provider has said about one of those. */
  keptMs: number;
}

interface Remembered extends Verified {
  /** Milliseconds since the epoch. */
  endsAt: number;
}

const REMEMBERED = 10_000;
const JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const OPAQUE = /^[\w\-.~+/]+=*$/;
const MAX_CHARACTERS = 16_384;
const TYPES = ['at+jwt', 'jwt'];
/** Claims that only ID tokens have. */
const ID_TOKEN_CLAIMS = ['nonce', 'at_hash', 'c_hash', 's_hash'];

export type AccessTokens = ReturnType<typeof createAccessTokens>;

/** Access tokens of the identity provider. A JWT is verified once; whose it is does not change until it ends. */
export function createAccessTokens(context: AccessTokensContext) {
  const { provider, people, clock, log, audience, scopePrefix, introspection } = context;
  const verified = new Map<string, Remembered>();
  const asked = createCache<Verified>(clock, context.keptMs);

  async function verify(token: string, digest: string, options: { trace: Trace }): Promise<Verified> {
    const claims = await claimsOf(token);
    const found = await holderOf(claims, options);
    if (verified.size >= REMEMBERED) verified.clear();
    verified.set(digest, { ...found, endsAt: Number(claims.exp) * 1_000 });
    return found;
  }

  async function claimsOf(token: string): Promise<JWTPayload> {
    try {
      const { keys, issuer } = await provider.get();
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: clock.now(),
        requiredClaims: ['exp', 'sub'],
      });
      if (!isAccessToken(payload, protectedHeader.typ)) throw invalid();
      return payload;
    } catch (error) {
      throw refusalOf(error);
    }
  }

  async function introspect(token: string, options: { trace: Trace }): Promise<Verified> {
    const answer = await answerAbout(token);
    const isOurs = [answer.aud ?? []].flat().includes(audience);
    const isEnded = answer.exp !== undefined && answer.exp * 1_000 <= clock.now().getTime();
    const isBearer = (answer.token_type ?? 'bearer').toLowerCase() === 'bearer' && answer.cnf === undefined;
    if (!answer.active || !isOurs || isEnded || !isBearer) throw invalid();
    return holderOf(answer, options);
  }

  async function answerAbout(token: string) {
    try {
      const { client, issuer } = await provider.get();
      const answer = await openid.tokenIntrospection(client, token, { token_type_hint: 'access_token' });
      if (answer.iss !== undefined && answer.iss !== issuer) throw invalid();
      return answer;
    } catch (error) {
      throw refusalOf(error);
    }
  }

  async function holderOf(claims: Claims, options: { trace: Trace }): Promise<Verified> {
    const user = await people.seen(claims, options);
    if (!user) throw invalid();
    return { userId: user.userId, scopes: scopesIn(claims, scopePrefix) };
  }

  /** The reason stays here, as errors of the libraries hold what they are about. */
  function refusalOf(error: unknown): Refusal {
    if (error instanceof Refusal) return error;
    if (error instanceof errors.JWTExpired) return refuse('TOKEN_EXPIRED', 'the access token has expired');
    if (error instanceof errors.JOSEError && !OF_PROVIDER.has(error.code)) return invalid();
    log.warn({ reason: reasonOf(error) }, 'the identity provider cannot be asked about an access token');
    return refuse('DEPENDENCY_UNAVAILABLE', 'the identity provider cannot be asked about the access token');
  }

  return {
    /** Refused with UNAUTHENTICATED, TOKEN_EXPIRED, and DEPENDENCY_UNAVAILABLE where the provider has to be asked. */
    async verify(token: string, options: { trace: Trace }): Promise<Verified> {
      const digest = sha256(token);
      const known = verified.get(digest);
      if (known && known.endsAt > clock.now().getTime()) return known;
      if (token.length > MAX_CHARACTERS) throw invalid();
      if (JWT.test(token)) return verify(token, digest, options);
      if (!introspection || !OPAQUE.test(token)) throw invalid();
      return asked.get(digest, () => introspect(token, options));
    },
  };
}

/** Codes of jose that speak of what the provider has answered, not of the token. */
const OF_PROVIDER = new Set(['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT']);

function invalid(): Refusal {
  return refuse('UNAUTHENTICATED', 'the access token is not valid here');
}

/** An ID token says who somebody is to a client; it lets nobody do anything. A token that is bound to a key needs that. */
function isAccessToken(claims: JWTPayload, type: string | undefined): boolean {
  const kind = type?.toLowerCase().replace(/^application\//, '') ?? 'jwt';
  const isIdToken = claims.typ === 'ID' || ID_TOKEN_CLAIMS.some((claim) => claims[claim] !== undefined);
  return TYPES.includes(kind) && !isIdToken && claims.cnf === undefined;
}

function scopesIn({ scope, scp }: Claims, prefix: string): Scope[] {
  const texts = [scope, scp].flat().flatMap((one) => (typeof one === 'string' ? one.split(' ') : []));
  return texts.flatMap((text) => {
    const name = text.startsWith(prefix) ? text.slice(prefix.length) : '';
    return isScope(name) ? [name] : [];
  });
}
