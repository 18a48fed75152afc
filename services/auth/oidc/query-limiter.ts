import { subscriberNetworkOf } from '../../../lib/addresses.ts';
import type { RateLimit, RateLimiter } from '../../../lib/bus/rate-limiter.ts';
import type { Clock } from '../../../lib/clock.ts';
import { LruCache } from '../../../lib/lru.ts';

const MINUTE_MS = 60_000;
/** Maximum number of sources in memory. The least recently used are dropped first. */
const MAX_ENTRIES = 10_000;

interface ProviderQueryContext {
  rateLimiter: RateLimiter;
  clock: Clock;
  /** Per source address. 0: no limit. */
  queriesPerMinute: number;
}

export type ProviderQueryLimiter = ReturnType<typeof createProviderQueryLimiter>;

/** Limits the queries to the identity provider that unknown tokens cause, per source, in any 60 seconds. */
export function createProviderQueryLimiter(context: ProviderQueryContext) {
  const { rateLimiter, clock, queriesPerMinute } = context;
  const budget: RateLimit = { limit: queriesPerMinute, windowMs: MINUTE_MS };
  /** When a source may cause its next query, in Unix milliseconds, so that a flood of tokens costs no request to Redis. */
  const refusedUntil = new LruCache<string, number>(MAX_ENTRIES);

  return {
    /** Counts one query of a source and resolves with true. Resolves with false when its limit is reached. */
    async allows(address: string): Promise<boolean> {
      if (queriesPerMinute === 0) return true;
      const source = subscriberNetworkOf(address);
      const now = clock.now().getTime();
      const left = (refusedUntil.get(source) ?? 0) - now;
      if (left > 0 && left <= MINUTE_MS) return false;
      const wait = await rateLimiter.consumeWindow(`queries:${source}`, budget);
      if (wait === 0) return true;
      refusedUntil.set(source, now + wait);
      return false;
    },
  };
}
