import { createHash } from 'node:crypto';
import type { Clock } from '../../../../../lib/clock.ts';

export interface RateLimit {
  requests: number;
  seconds: number;
}

export interface RateLimitState {
  headers: Record<string, string>;
  /** Present if the request is refused. */
  refusal?: { retryAfter: number; isGlobal: boolean; message: string };
}

/** Counts requests per route and major parameter, and globally. */
export interface RateLimits {
  /** Refuses all requests of bots for some time. */
  blockAll(seconds: number): void;
  count(bot: string, route: string, major: string): RateLimitState;
  /** The state of a request that a resource refuses, without regard to the bucket. */
  refuse(route: string, seconds: number): RateLimitState;
}

const GLOBAL_PER_SECOND = 50;

export function createRateLimits(clock: Clock, limit: RateLimit): RateLimits {
  const buckets = new Map<string, { count: number; resetMs: number }>();
  let blockedUntilMs = 0;
  const now = () => clock.now().getTime();

  function countIn(
    key: string,
    { requests, seconds }: RateLimit,
  ): { remaining: number; waitSeconds: number; resetMs: number } {
    const known = buckets.get(key);
    const bucket = known && known.resetMs > now() ? known : { count: 0, resetMs: now() + seconds * 1000 };
    buckets.set(key, bucket);
    bucket.count++;
    return {
      remaining: requests - bucket.count,
      waitSeconds: (bucket.resetMs - now()) / 1000,
      resetMs: bucket.resetMs,
    };
  }

  function refusalOf(scope: 'user' | 'global' | 'shared', retryAfter: number, more = {}): RateLimitState {
    const isGlobal = scope === 'global';
    const message =
      scope === 'shared' ? 'The resource is being rate limited.' : 'You are being rate limited.';
    return {
      headers: {
        'retry-after': String(Math.ceil(retryAfter)),
        'x-ratelimit-scope': scope,
        ...(isGlobal && { 'x-ratelimit-global': 'true' }),
        ...more,
      },
      refusal: { retryAfter, isGlobal, message },
    };
  }

  /** The name of a bucket does not contain the major parameter. */
  const bucketOf = (route: string) => createHash('md5').update(route).digest('hex');

  return {
    blockAll(seconds) {
      blockedUntilMs = now() + seconds * 1000;
    },
    count(bot, route, major) {
      if (blockedUntilMs > now()) return refusalOf('global', (blockedUntilMs - now()) / 1000);
      const all = countIn(`${bot} global`, { requests: GLOBAL_PER_SECOND, seconds: 1 });
      if (all.remaining < 0) return refusalOf('global', all.waitSeconds);
      const { remaining, waitSeconds, resetMs } = countIn(`${bot} ${route} ${major}`, limit);
      const headers = {
        'x-ratelimit-limit': String(limit.requests),
        'x-ratelimit-remaining': String(Math.max(remaining, 0)),
        'x-ratelimit-reset': (resetMs / 1000).toFixed(3),
        'x-ratelimit-reset-after': waitSeconds.toFixed(3),
        'x-ratelimit-bucket': bucketOf(route),
      };
      return remaining < 0 ? refusalOf('user', waitSeconds, headers) : { headers };
    },
    refuse: (route, seconds) => refusalOf('shared', seconds, { 'x-ratelimit-bucket': bucketOf(route) }),
  };
}
