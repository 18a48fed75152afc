/** Allows a burst of `limit` requests. Used requests are replenished evenly, `limit` per `windowMs`. */
export interface RateLimit {
  limit: number;
  windowMs: number;
}

/**
 * Rate limits that all processes share. A limiter protects the service and must not take it down: when the shared
 * store cannot be reached, each process limits by its own counts and no call fails.
 */
export interface RateLimiter {
  /**
   * Consumes one request of the limit of a key. Resolves with 0 when the request is allowed. Otherwise consumes nothing
   * and resolves with the milliseconds (at least 1) until the next request is allowed. Unused keys are deleted.
   */
  consume(key: string, limit: RateLimit): Promise<number>;
  /**
   * Consumes one request like `consume`, but never allows more than `limit` requests in any `windowMs`. Stores the times of
   * up to `limit` requests per key.
   */
  consumeWindow(key: string, limit: RateLimit): Promise<number>;
  close(): Promise<void>;
}

/** Returns the microseconds after which one more request is allowed. A whole number, so that sums stay exact. */
export function replenishIntervalMicros({ limit, windowMs }: RateLimit): number {
  return Math.floor((windowMs * 1_000) / limit);
}
