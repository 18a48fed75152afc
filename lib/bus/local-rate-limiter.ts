import type { Clock } from '../clock.ts';
import { LruCache } from '../lru.ts';
import { type RateLimiter, replenishIntervalMicros } from './rate-limiter.ts';

/** Bounds the memory that a flood of different keys can take. The least recently used key is deleted first. */
const MAX_KEYS = 100_000;
const MAX_WINDOWS = 10_000;

/** Rate limits of one process, as a generic cell rate algorithm (https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm). */
export function createLocalRateLimiter(clock: Clock): RateLimiter {
  /** When the limit of a key is fully replenished, in microseconds since the epoch. */
  const fullAt = new LruCache<string, number>(MAX_KEYS);
  /** The times of the requests in the window of a key, oldest first, in milliseconds since the epoch. */
  const windows = new LruCache<string, number[]>(MAX_WINDOWS);

  return {
    async consume(key, limit) {
      const now = clock.now().getTime() * 1_000;
      const span = limit.windowMs * 1_000;
      // When the clock was set back, no caller waits longer than for a full window.
      const before = Math.min(Math.max(fullAt.get(key) ?? 0, now), now + span);
      const after = before + replenishIntervalMicros(limit);
      if (after > now + span) return Math.ceil((after - now - span) / 1_000);
      fullAt.set(key, after);
      return 0;
    },
    async consumeWindow(key, { limit, windowMs }) {
      const now = clock.now().getTime();
      // Times in the future are from before the clock was set back.
      const times = (windows.get(key) ?? []).filter((time) => time <= now && now - time < windowMs);
      const [oldest = now] = times;
      if (times.length >= limit) return oldest + windowMs - now;
      windows.set(key, [...times, now]);
      return 0;
    },
    async close() {
      fullAt.clear();
      windows.clear();
    },
  };
}
