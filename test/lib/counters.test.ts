import { createClient } from 'redis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Counters } from '../../lib/bus/counters.ts';
import type { RedisClient } from '../../lib/bus/link.ts';
import { createLocalCounters } from '../../lib/bus/local-counters.ts';
import { createRedisCounters } from '../../lib/bus/redis-counters.ts';
import { systemClock } from '../../lib/clock.ts';
import { createFakeClock } from '../support/clock.ts';
import { conforms } from '../support/counters.ts';
import { realLane } from '../support/lane.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { until } from '../support/wait.ts';

const MINUTE_MS = 60_000;
const THREE = { limit: 3, windowMs: MINUTE_MS };

conforms('counters of one process', () => {
  const clock = createFakeClock();
  return { counters: createLocalCounters(clock), pass: (ms) => clock.advance(ms) };
});
conforms('counters over a Redis that is not there', () => {
  const clock = createFakeClock();
  const counters = createRedisCounters({ url: 'redis://127.0.0.1:9', clock, onError: () => {} });
  return { counters, pass: (ms) => clock.advance(ms) };
});

describe('counters of one process', () => {
  it('are exact to the millisecond', async () => {
    const clock = createFakeClock();
    const counters = createLocalCounters(clock);
    for (let time = 0; time < 3; time++) await counters.take('a', THREE);
    expect(await counters.take('a', THREE)).toBe(20_000);
    clock.advance(19_999);
    expect(await counters.take('a', THREE)).toBe(1);
    clock.advance(1);
    expect(await counters.take('a', THREE)).toBe(0);
  });

  it('make nobody wait for longer than for all when the clock is set back', async () => {
    const clock = createFakeClock();
    const counters = createLocalCounters(clock);
    for (let time = 0; time < 3; time++) await counters.take('a', THREE);
    clock.advance(-365 * 24 * 60 * MINUTE_MS);
    expect(await counters.take('a', THREE)).toBe(20_000);
  });

  it('forget those first who were not here for longest', async () => {
    const counters = createLocalCounters(createFakeClock());
    const one = { limit: 1, windowMs: MINUTE_MS };
    await counters.take('first', one);
    await counters.take('second', one);
    for (let name = 0; name < 99_999; name++) await counters.take(`other ${name}`, one);
    expect(await counters.take('first', one)).toBe(0);
    expect(await counters.take('other 99998', one)).toBe(MINUTE_MS);
  });
});

describe('counters over a Redis that is not there', () => {
  it('tell of it once', async () => {
    const errors: unknown[] = [];
    const url = 'redis://127.0.0.1:9';
    const counters = createRedisCounters({ url, clock: systemClock, onError: (error) => errors.push(error) });
    await until('it is noticed', () => errors.length > 0);
    for (let time = 0; time < 5; time++) await counters.take('a', THREE);
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

  /** Counters that Redis is there for. */
  async function ready(onError: (error: unknown) => void = () => {}): Promise<Counters> {
    const counters = createRedisCounters({ url: redis.url, clock: systemClock, onError });
    const name = `hello ${randomName()}`;
    await until('it counts in Redis', async () => {
      await counters.take(name, THREE);
      return (await command((client) => client.exists(`ahs:budget:${name}`))) === 1;
    });
    return counters;
  }

  async function command<Value>(work: (client: RedisClient) => Promise<Value>): Promise<Value> {
    const client: RedisClient = createClient({ url: redis.url });
    await client.connect();
    try {
      return await work(client);
    } finally {
      client.destroy();
    }
  }

  /** The clock of Redis cannot be moved; what it has written down can. */
  const pass = (ms: number) =>
    command(async (client) => {
      for (const key of await client.keys('ahs:budget:*')) {
        const wholeAt = Number(await client.get(key));
        if (wholeAt > 0) await client.set(key, String(wholeAt - ms * 1_000), { expiration: 'KEEPTTL' });
      }
    });

  let named = 0;
  const randomName = () => `${process.pid} ${named++}`;

  conforms('counters over Redis', async () => ({ counters: await ready(), pass }));

  describe('counters of several processes over Redis', () => {
    it('share one budget', async () => {
      const [one, other] = [await ready(), await ready()];
      const many = { limit: 40, windowMs: 60 * MINUTE_MS };
      const waits = await Promise.all(
        Array.from({ length: 100 }, (_, index) => (index % 2 ? one : other).take('shared', many)),
      );
      expect(waits.filter((wait) => wait === 0)).toHaveLength(40);
      await Promise.all([one.close(), other.close()]);
    });

    it('leave nothing in Redis for longer than it takes to be whole again', async () => {
      const counters = await ready();
      for (let time = 0; time < 2; time++) await counters.take('kept', THREE);
      const left = await command((client) => client.pTTL('ahs:budget:kept'));
      expect(left).toBeGreaterThan(20_000);
      expect(left).toBeLessThanOrEqual(40_000);
      await counters.close();
    });

    it('go on when somebody has written something else into a key', async () => {
      const counters = await ready();
      await command((client) => client.set('ahs:budget:spoilt', 'garbage'));
      expect(await counters.take('spoilt', THREE)).toBe(0);
      await command((client) => client.set('ahs:budget:spoilt', '9'.repeat(300)));
      expect(await counters.take('spoilt', THREE)).toBeLessThanOrEqual(20_000);
      await counters.close();
    });

    it('count alone while Redis stands still, tell of it once, and together again afterwards', async () => {
      const errors: unknown[] = [];
      const counters = await ready((error) => errors.push(error));
      const goOn = redis.pause();
      try {
        for (let time = 0; time < 3; time++) expect(await counters.take('slow', THREE)).toBe(0);
        expect(await counters.take('slow', THREE)).toBeGreaterThan(0);
      } finally {
        goOn();
      }
      expect(errors).toHaveLength(1);
      await until('it counts in Redis again', async () => {
        await counters.take('slow again', THREE);
        return (await command((client) => client.exists('ahs:budget:slow again'))) === 1;
      });
      await counters.close();
    });

    it('count alone while Redis is dead, and together again afterwards', async () => {
      const errors: unknown[] = [];
      const counters = await ready((error) => errors.push(error));
      await redis.kill();
      for (let time = 0; time < 3; time++) expect(await counters.take('dead', THREE)).toBe(0);
      expect(await counters.take('dead', THREE)).toBeGreaterThan(0);
      await redis.restart();
      await until('it counts in Redis again', async () => {
        await counters.take('risen', THREE);
        return (await command((client) => client.exists('ahs:budget:risen'))) === 1;
      });
      expect(errors).toHaveLength(1);
      await counters.close();
    });
  });
}
