import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Budget, Counters } from '../../lib/bus/counters.ts';

/** Counters, and what lets their time pass. */
export interface CountersUnderTest {
  counters: Counters;
  pass(ms: number): Promise<void> | void;
}

const MINUTE_MS = 60_000;
/** One comes again every 20 s. */
const THREE: Budget = { limit: 3, windowMs: MINUTE_MS };
/** So much passes by itself meanwhile, at most. */
const SLACK_MS = 9_000;

/** What all counters do. */
export function conforms(name: string, open: () => CountersUnderTest | Promise<CountersUnderTest>): void {
  describe(name, () => {
    let under: CountersUnderTest;
    let counters: Counters;
    let named = 0;
    let key: string;
    beforeEach(async () => {
      under = await open();
      counters = under.counters;
      key = `somebody ${named++}`;
    });
    afterEach(() => counters.close());

    async function takeAll(budget: Budget, whose = key): Promise<void> {
      for (let time = 0; time < budget.limit; time++) expect(await counters.take(whose, budget)).toBe(0);
    }

    it.each([1, 3, 7, 59, 600])('gives a budget of %i, and no more', async (limit) => {
      const budget = { limit, windowMs: 60 * MINUTE_MS };
      await takeAll(budget);
      expect(await counters.take(key, budget)).toBeGreaterThan(0);
    });

    it('says when there is one again, and there is one then and not before', async () => {
      await takeAll(THREE);
      const wait = await counters.take(key, THREE);
      expect(wait).toBeGreaterThan(20_000 - SLACK_MS);
      expect(wait).toBeLessThanOrEqual(20_000);
      await under.pass(wait - SLACK_MS);
      expect(await counters.take(key, THREE)).toBeGreaterThan(0);
      await under.pass(SLACK_MS);
      expect(await counters.take(key, THREE)).toBe(0);
      expect(await counters.take(key, THREE)).toBeGreaterThan(20_000 - SLACK_MS);
    });

    it('takes nothing from whoever is refused', async () => {
      await takeAll(THREE);
      for (let time = 0; time < 100; time++)
        expect(await counters.take(key, THREE)).toBeLessThanOrEqual(20_000);
      await under.pass(20_000);
      expect(await counters.take(key, THREE)).toBe(0);
    });

    it('is whole again after its window, and never more than whole', async () => {
      await takeAll(THREE);
      await under.pass(10 * MINUTE_MS);
      await takeAll(THREE);
      expect(await counters.take(key, THREE)).toBeGreaterThan(0);
    });

    it('counts everybody for themselves', async () => {
      await takeAll(THREE);
      await takeAll(THREE, `${key} of others`);
      expect(await counters.take(key, THREE)).toBeGreaterThan(0);
    });

    it('gives those who come together as much as those who come one by one', async () => {
      const waits = await Promise.all(Array.from({ length: 50 }, () => counters.take(key, THREE)));
      expect(waits.filter((wait) => wait === 0)).toHaveLength(3);
    });

    it('is closed twice without harm', async () => {
      await counters.close();
      await counters.close();
    });
  });
}
