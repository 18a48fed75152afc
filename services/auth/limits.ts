import { subscriberNetworkOf } from '../../lib/addresses.ts';
import type { RateLimit, RateLimiter } from '../../lib/bus/rate-limiter.ts';
import type { Clock } from '../../lib/clock.ts';
import { sha256 } from '../../lib/digest.ts';
import { Refusal, refuse } from '../../lib/errors.ts';
import type { Call } from '../../lib/grpc/contract.ts';
import { LruCache } from '../../lib/lru.ts';
import type { Identifier, Identity, PresentedCredential } from './identity.ts';
import { hasTokenPrefix } from './token-value.ts';

interface LimitsContext {
  rateLimiter: RateLimiter;
  clock: Clock;
  /** Per user. 0: no limit. */
  requestsPerMinute: number;
  /** Started logins and rejected credentials per source address. 0: no limit. */
  loginsPerMinute: number;
}

const MINUTE_MS = 60_000;
/** Maximum number of sources, and of credentials, in memory. The least recently used are dropped first. */
const MAX_ENTRIES = 10_000;

export type SourceLimiter = ReturnType<typeof createSourceLimiter>;

/** Limits logins and rejected credentials per source, so that guessing costs no database lookups. */
export function createSourceLimiter({ rateLimiter, clock, loginsPerMinute }: LimitsContext) {
  const budget: RateLimit = { limit: loginsPerMinute, windowMs: MINUTE_MS };
  /** The time at which a used-up budget gets its next token, by source, in Unix milliseconds. */
  const emptyUntil = new LruCache<string, number>(MAX_ENTRIES);

  function limitExceeded(waitMs: number): Refusal {
    return tooMany('logins and rejected credentials from one address', loginsPerMinute, waitMs);
  }

  return {
    /** Fails with RATE_LIMITED when the budget of the source is known to be used up. Consumes no token. */
    check(address = ''): void {
      if (emptyUntil.size === 0) return;
      const source = subscriberNetworkOf(address);
      const wait = (emptyUntil.get(source) ?? 0) - clock.now().getTime();
      if (wait > 0) throw limitExceeded(Math.min(wait, MINUTE_MS));
      emptyUntil.delete(source);
    },

    /** Consumes a token. Fails with RATE_LIMITED when there is none. */
    async consume(address = ''): Promise<void> {
      if (loginsPerMinute === 0) return;
      const source = subscriberNetworkOf(address);
      const wait = await rateLimiter.consume(`logins:${source}`, budget);
      if (wait === 0) return;
      emptyUntil.set(source, clock.now().getTime() + wait);
      throw limitExceeded(wait);
    },
  };
}

/**
 * Adds rate limits to `identify`. A credential that was valid a moment ago is not limited by other clients at the same
 * address.
 */
export function limitIdentify(
  identify: Identifier['identify'],
  context: LimitsContext,
  sources: SourceLimiter,
) {
  const { rateLimiter, requestsPerMinute, loginsPerMinute } = context;
  const budget: RateLimit = { limit: requestsPerMinute, windowMs: MINUTE_MS };
  const validCredentials = new LruCache<string, true>(MAX_ENTRIES);

  async function identifyLimited(presented: PresentedCredential, call: Call): Promise<Identity> {
    const { bearer, login, resource = '' } = presented;
    const credential = bearer || login;
    // The rejection of a request without a credential needs no lookup.
    if (loginsPerMinute === 0 || !credential) return identify(presented, call);
    // An access token can be valid for one resource and rejected for another one.
    const digest = sha256(isAccessToken(bearer) ? `${resource}\n${credential}` : credential);
    if (!validCredentials.has(digest)) sources.check(presented.address);
    try {
      const identity = await identify(presented, call);
      validCredentials.set(digest, true);
      return identity;
    } catch (error) {
      if (!isRejectedCredential(error)) throw error;
      validCredentials.delete(digest);
      await sources.consume(presented.address);
      throw error;
    }
  }

  return async (presented: PresentedCredential, call: Call): Promise<Identity> => {
    if (presented.again) return identify(presented, call);
    const identity = await identifyLimited(presented, call);
    if (requestsPerMinute > 0) {
      const wait = await rateLimiter.consume(`requests:${identity.user.userId}`, budget);
      if (wait > 0) throw tooMany('requests of one user', requestsPerMinute, wait);
      // The edge asks again for each request, so that each is counted.
      return { ...identity, validUntil: 0 };
    }
    return identity;
  };
}

/** Whether the bearer token is one of the identity provider. */
function isAccessToken(bearer: string): boolean {
  return bearer !== '' && !hasTokenPrefix(bearer);
}

function isRejectedCredential(error: unknown): boolean {
  return error instanceof Refusal && (error.code === 'UNAUTHENTICATED' || error.code === 'TOKEN_EXPIRED');
}

function tooMany(what: string, limit: number, waitMs: number): Refusal {
  return refuse('RATE_LIMITED', `Too many ${what}: the limit is ${limit} per minute.`, {
    retryAfterSeconds: Math.ceil(waitMs / 1_000),
  });
}
