import { createClient } from '@redis/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalRateLimiter } from '../../lib/bus/local-rate-limiter.ts';
import type { RateLimiter } from '../../lib/bus/rate-limiter.ts';
import { createRedisRateLimiter } from '../../lib/bus/redis-rate-limiter.ts';
import { systemClock } from '../../lib/clock.ts';
import { createFakeClock } from '../support/clock.ts';
import { realLane } from '../support/lane.ts';
import { testRateLimiter } from '../support/rate-limiter-conformance.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { until } from '../support/wait.ts';

const MINUTE_MS = 60_000;
const THREE = { limit: 3, windowMs: MINUTE_MS };

testRateLimiter('counters of one process', () => {
  const clock = createFakeClock();
  return { rateLimiter: createLocalRateLimiter(clock), pass: (ms) => clock.advance(ms) };
});
testRateLimiter('createRedisRateLimiter without a reachable Redis', () => {
  const clock = createFakeClock();
  const counters = createRedisRateLimiter({ url: 'redis://127.0.0.1:9', clock, onError: () => {} });
  return { rateLimiter: counters, pass: (ms) => clock.advance(ms) };
});

const connect = (url: string) => createClient({ url });

describe('createLocalRateLimiter', () => {
  it('allows the next request exactly to the millisecond', async () => {
    const clock = createFakeClock();
    const counters = createLocalRateLimiter(clock);
    for (let time = 0; time < 3; time++) await counters.consume('a', THREE);
    expect(await counters.consume('a', THREE)).toBe(20_000);
    clock.advance(19_999);
    expect(await counters.consume('a', THREE)).toBe(1);
    clock.advance(1);
    expect(await counters.consume('a', THREE)).toBe(0);
  });

  it('waits at most one full window when the clock is set back', async () => {
    const clock = createFakeClock();
    const counters = createLocalRateLimiter(clock);
    for (let time = 0; time < 3; time++) await counters.consume('a', THREE);
    clock.advance(-365 * 24 * 60 * MINUTE_MS);
    expect(await counters.consume('a', THREE)).toBe(20_000);
  });

  it('never allows more than the limit in any window', async () => {
    const clock = createFakeClock();
    const counters = createLocalRateLimiter(clock);
    const allowed: number[] = [];
    for (let now = 0; now < 10 * MINUTE_MS; now += 7_000) {
      for (let time = 0; time < 2; time++)
        if ((await counters.consumeWindow('a', THREE)) === 0) allowed.push(now);
      clock.advance(7_000);
    }
    expect(allowed.length).toBeGreaterThan(20);
    allowed.slice(3).forEach((time, index) => {
      expect(time - (allowed[index] ?? 0)).toBeGreaterThanOrEqual(MINUTE_MS);
    });
    clock.advance(-365 * 24 * 60 * MINUTE_MS);
    expect(await counters.consumeWindow('a', THREE)).toBe(0);
  });

  it('evicts the least recently used key first', async () => {
    const counters = createLocalRateLimiter(createFakeClock());
    const onePerMinute = { limit: 1, windowMs: MINUTE_MS };
    await counters.consume('first', onePerMinute);
    await counters.consume('second', onePerMinute);
    for (let name = 0; name < 99_999; name++) await counters.consume(`other ${name}`, onePerMinute);
    expect(await counters.consume('first', onePerMinute)).toBe(0);
    expect(await counters.consume('other 99998', onePerMinute)).toBe(MINUTE_MS);
  });
});

describe('createRedisRateLimiter without a reachable Redis', () => {
  it('reports the outage once', async () => {
    const errors: unknown[] = [];
    const url = 'redis://127.0.0.1:9';
    const counters = createRedisRateLimiter({
      url,
      clock: systemClock,
      onError: (error) => errors.push(error),
    });
    await until('the outage is reported', () => errors.length > 0);
    for (let time = 0; time < 5; time++) await counters.consume('a', THREE);
    await counters.close();
    expect(errors).toHaveLength(1);
  });
});

if (realLane) {
  let redis: TestRedis;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());

  /** Opens a rate limiter and waits until it uses Redis. */
  async function ready(onError: (error: unknown) => void = () => {}): Promise<RateLimiter> {
    const counters = createRedisRateLimiter({ url: redis.url, clock: systemClock, onError });
    const name = `hello ${randomName()}`;
    await until('the limiter uses Redis', async () => {
      await counters.consume(name, THREE);
      return (await command((client) => client.exists(`ahs:budget:${name}`))) === 1;
    });
    return counters;
  }

  async function command<Value>(
    work: (client: ReturnType<typeof connect>) => Promise<Value>,
  ): Promise<Value> {
    const client = connect(redis.url);
    await client.connect();
    try {
      return await work(client);
    } finally {
      client.destroy();
    }
  }

  /** The clock of Redis cannot be changed, so the stored time is changed instead. */
  const pass = (ms: number) =>
    command(async (client) => {
      for (const key of await client.keys('ahs:budget:*')) {
        const wholeAt = Number(await client.get(key));
        if (wholeAt > 0) await client.set(key, String(wholeAt - ms * 1_000), { expiration: 'KEEPTTL' });
      }
    });

  let named = 0;
  const randomName = () => `${process.pid} ${named++}`;

  testRateLimiter('counters over Redis', async () => ({ rateLimiter: await ready(), pass }));

  describe('Redis rate limiters of several processes', () => {
    it('share one limit', async () => {
      const [one, other] = [await ready(), await ready()];
      const many = { limit: 40, windowMs: 60 * MINUTE_MS };
      const waits = await Promise.all(
        Array.from({ length: 100 }, (_, index) => (index % 2 ? one : other).consume('shared', many)),
      );
      expect(waits.filter((wait) => wait === 0)).toHaveLength(40);
      await Promise.all([one.close(), other.close()]);
    });

    it('delete a key from Redis when its limit is fully replenished', async () => {
      const counters = await ready();
      for (let time = 0; time < 2; time++) await counters.consume('kept', THREE);
      const left = await command((client) => client.pTTL('ahs:budget:kept'));
      expect(left).toBeGreaterThan(20_000);
      expect(left).toBeLessThanOrEqual(40_000);
      await counters.close();
    });

    it('continue when a key contains a foreign value', async () => {
      const counters = await ready();
      await command((client) => client.set('ahs:budget:spoilt', 'garbage'));
      expect(await counters.consume('spoilt', THREE)).toBe(0);
      await command((client) => client.set('ahs:budget:spoilt', '9'.repeat(300)));
      expect(await counters.consume('spoilt', THREE)).toBeLessThanOrEqual(20_000);
      await counters.close();
    });

    it('limit per process while Redis is stopped, report it once, and share limits again afterwards', async () => {
      const errors: unknown[] = [];
      const counters = await ready((error) => errors.push(error));
      const goOn = redis.pause();
      try {
        for (let time = 0; time < 3; time++) expect(await counters.consume('slow', THREE)).toBe(0);
        expect(await counters.consume('slow', THREE)).toBeGreaterThan(0);
      } finally {
        goOn();
      }
      expect(errors).toHaveLength(1);
      await until('the limiter uses Redis again', async () => {
        await counters.consume('slow again', THREE);
        return (await command((client) => client.exists('ahs:budget:slow again'))) === 1;
      });
      await counters.close();
    });

    it('limit per process while Redis is down and share limits again afterwards', async () => {
      const errors: unknown[] = [];
      const counters = await ready((error) => errors.push(error));
      await redis.kill();
      for (let time = 0; time < 3; time++) expect(await counters.consume('dead', THREE)).toBe(0);
      expect(await counters.consume('dead', THREE)).toBeGreaterThan(0);
      await redis.restart();
      await until('the limiter uses Redis again', async () => {
        await counters.consume('risen', THREE);
        return (await command((client) => client.exists('ahs:budget:risen'))) === 1;
      });
      expect(errors).toHaveLength(1);
      await counters.close();
    });
  });
}
