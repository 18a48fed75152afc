import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RateLimit, RateLimiter } from '../../lib/bus/rate-limiter.ts';
import { until } from './wait.ts';

/** A rate limiter with the means to advance its time. */
interface RateLimiterUnderTest {
  rateLimiter: RateLimiter;
  pass(ms: number): Promise<void> | void;
}

const MINUTE_MS = 60_000;
/** Refills one request every 20 s. */
const THREE: RateLimit = { limit: 3, windowMs: MINUTE_MS };
/** The longest time that a test run may take between two calls. */
const SLACK_MS = 9_000;

/** The contract of every rate limiter. */
export function testRateLimiter(
  name: string,
  open: () => RateLimiterUnderTest | Promise<RateLimiterUnderTest>,
): void {
  describe(name, () => {
    let under: RateLimiterUnderTest;
    let rateLimiter: RateLimiter;
    let named = 0;
    let key: string;
    beforeEach(async () => {
      under = await open();
      rateLimiter = under.rateLimiter;
      key = `user ${named++}`;
    });
    afterEach(() => rateLimiter.close());

    async function takeAll(budget: RateLimit, taker = key): Promise<void> {
      for (let time = 0; time < budget.limit; time++)
        expect(await rateLimiter.consume(taker, budget)).toBe(0);
    }

    it.each([1, 3, 7, 59, 600])('grants a budget of %i requests and no more', async (limit) => {
      const budget = { limit, windowMs: 24 * 60 * MINUTE_MS };
      await takeAll(budget);
      expect(await rateLimiter.consume(key, budget)).toBeGreaterThan(0);
    });

    it('returns the exact wait until the next request is granted', async () => {
      await takeAll(THREE);
      const wait = await rateLimiter.consume(key, THREE);
      expect(wait).toBeGreaterThan(20_000 - SLACK_MS);
      expect(wait).toBeLessThanOrEqual(20_000);
      await under.pass(wait - SLACK_MS);
      expect(await rateLimiter.consume(key, THREE)).toBeGreaterThan(0);
      await under.pass(SLACK_MS);
      expect(await rateLimiter.consume(key, THREE)).toBe(0);
      expect(await rateLimiter.consume(key, THREE)).toBeGreaterThan(20_000 - SLACK_MS);
    });

    it('does not charge refused requests', async () => {
      await takeAll(THREE);
      for (let time = 0; time < 100; time++)
        expect(await rateLimiter.consume(key, THREE)).toBeLessThanOrEqual(20_000);
      await under.pass(20_000);
      expect(await rateLimiter.consume(key, THREE)).toBe(0);
    });

    it('refills completely after its window, and never beyond the limit', async () => {
      await takeAll(THREE);
      await under.pass(10 * MINUTE_MS);
      await takeAll(THREE);
      expect(await rateLimiter.consume(key, THREE)).toBeGreaterThan(0);
    });

    it('counts each key separately', async () => {
      await takeAll(THREE);
      await takeAll(THREE, `${key} other`);
      expect(await rateLimiter.consume(key, THREE)).toBeGreaterThan(0);
    });

    it('grants concurrent requests the same budget as sequential ones', async () => {
      const waits = await Promise.all(Array.from({ length: 50 }, () => rateLimiter.consume(key, THREE)));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(3);
    });

    it('allows exactly the limit in a window, also for concurrent requests, and counts each key separately', async () => {
      for (const taker of [key, `${key} other`]) {
        const waits = await Promise.all(
          Array.from({ length: 50 }, () => rateLimiter.consumeWindow(taker, THREE)),
        );
        expect(waits.filter((wait) => wait === 0)).toHaveLength(3);
        const wait = await rateLimiter.consumeWindow(taker, THREE);
        expect(wait).toBeGreaterThan(MINUTE_MS - SLACK_MS);
        expect(wait).toBeLessThanOrEqual(MINUTE_MS);
      }
    });

    it('allows the next request of a window when its oldest request has left it', async () => {
      const short = { limit: 2, windowMs: 50 };
      for (let time = 0; time < 2; time++) expect(await rateLimiter.consumeWindow(key, short)).toBe(0);
      await under.pass(50);
      await until('the window has passed', async () => (await rateLimiter.consumeWindow(key, short)) === 0);
    });

    it('may be closed twice', async () => {
      await rateLimiter.close();
      await rateLimiter.close();
    });
  });
}
