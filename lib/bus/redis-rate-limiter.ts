import type { Clock } from '../clock.ts';
import { createLocalRateLimiter } from './local-rate-limiter.ts';
import { type RateLimiter, replenishIntervalMicros } from './rate-limiter.ts';
import { openRedisConnection } from './redis-connection.ts';

interface RedisRateLimiterOptions {
  /** redis:// or rediss:// */
  url: string;
  clock: Clock;
  /** Called once per outage. */
  onError: (error: unknown) => void;
}

/** The prefixes of the Redis keys. */
const PREFIX = 'ahs:budget:';
const WINDOW_PREFIX = 'ahs:window:';
/** The longest time that a request waits for Redis. */
const TIMEOUT_MS = 100;
/** After a failure or timeout, Redis is not asked for this long. */
const PAUSE_MS = 1_000;

/**
 * The key holds the time at which its limit is fully replenished, in microseconds of Redis' clock, because the clocks of
 * the processes can differ. The script is one atomic command
 * (https://redis.io/docs/latest/develop/programmability/eval-intro/).
 */
const TAKE = `
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local interval, span = tonumber(ARGV[1]), tonumber(ARGV[2])
local before = math.min(math.max(tonumber(redis.call('GET', KEYS[1]) or 0) or 0, now), now + span)
local after = before + interval
if after > now + span then return math.ceil((after - now - span) / 1000) end
redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', math.ceil((after - now) / 1000))
return 0
`;

/** The key holds the times of the latest requests, newest first, in milliseconds of Redis' clock. */
const TAKE_FROM_WINDOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local limit, span = tonumber(ARGV[1]), tonumber(ARGV[2])
local oldest = tonumber(redis.call('LINDEX', KEYS[1], limit - 1) or '')
if oldest and oldest <= now and now - oldest < span then return oldest + span - now end
redis.call('LPUSH', KEYS[1], string.format('%.0f', now))
redis.call('LTRIM', KEYS[1], 0, limit - 1)
redis.call('PEXPIRE', KEYS[1], span)
return 0
`;

/** Rate limits of all processes that use this Redis. While Redis is unavailable, each process counts for itself. */
export function createRedisRateLimiter({ url, clock, onError }: RedisRateLimiterOptions): RateLimiter {
  const connection = openRedisConnection({ url, clock, onError });
  const local = createLocalRateLimiter(clock);
  let localUntil = 0;
  let isReported = false;

  async function takeInRedis(script: string, key: string, values: number[]): Promise<number> {
    const answer = await connection.client.sendCommand(['EVAL', script, '1', key, ...values.map(String)]);
    if (typeof answer !== 'number') throw new Error('the rate limit script did not return a number');
    return answer;
  }

  function withTimeout<Value>(ms: number, work: Promise<Value>): Promise<Value> {
    return new Promise((resolve, reject) => {
      const cancel = clock.after(ms, () =>
        reject(new Error(`Redis did not answer a rate limit check within ${ms} ms`)),
      );
      work.then(resolve, reject).finally(cancel);
    });
  }

  async function shared(work: () => Promise<number>, fallback: () => Promise<number>): Promise<number> {
    if (!connection.client.isReady || clock.now().getTime() < localUntil) return fallback();
    try {
      const wait = await withTimeout(TIMEOUT_MS, work());
      isReported = false;
      return wait;
    } catch (error) {
      localUntil = clock.now().getTime() + PAUSE_MS;
      // The connection reports when Redis is unreachable. This reports a Redis that is slow or returns errors.
      if (connection.client.isReady && !isReported) onError(error);
      isReported = true;
      return fallback();
    }
  }

  return {
    consume: (key, limit) =>
      shared(
        () => takeInRedis(TAKE, PREFIX + key, [replenishIntervalMicros(limit), limit.windowMs * 1_000]),
        () => local.consume(key, limit),
      ),
    consumeWindow: (key, limit) =>
      shared(
        () => takeInRedis(TAKE_FROM_WINDOW, WINDOW_PREFIX + key, [limit.limit, limit.windowMs]),
        () => local.consumeWindow(key, limit),
      ),
    async close() {
      connection.close();
      await local.close();
    },
  };
}
