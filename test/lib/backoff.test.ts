import { describe, expect, it } from 'vitest';
import { backoffDelay, createBackoff } from '../../lib/backoff.ts';
import { seeded } from '../chaos/random.ts';
import { createFakeClock } from '../support/clock.ts';

const LIMITS = { firstMs: 100, maxMs: 2_000 };

describe('backoffDelay', () => {
  it.each([
    [1, 50, 100],
    [2, 100, 200],
    [5, 800, 1_600],
    [6, 1_000, 2_000],
    [5_000, 1_000, 2_000],
  ])('after %i failures is between %i and %i milliseconds', (failures, min, max) => {
    expect(backoffDelay(failures, LIMITS, () => 0)).toBe(min);
    expect(backoffDelay(failures, LIMITS, () => 1 - Number.EPSILON)).toBe(max);
    const random = seeded(failures);
    for (let draw = 0; draw < 100; draw++) {
      const delay = backoffDelay(failures, LIMITS, random);
      expect(delay).toBeGreaterThanOrEqual(min);
      expect(delay).toBeLessThanOrEqual(max);
    }
  });

  it('spreads the retries of clients that failed at the same moment', () => {
    const random = seeded(7);
    const delays = Array.from({ length: 20 }, () => backoffDelay(6, LIMITS, random));
    expect(new Set(delays).size).toBeGreaterThan(15);
  });
});

describe('createBackoff', () => {
  it('doubles the bound of each pause until it is reset', async () => {
    const clock = createFakeClock();
    const backoff = createBackoff(clock, LIMITS, () => 0);
    const { signal } = new AbortController();
    const pausedFor = async (): Promise<number> => {
      let isOver = false;
      const pause = backoff.pause(signal).then(() => {
        isOver = true;
      });
      let ms = 0;
      for (; !isOver; ms += 10) {
        clock.advance(10);
        await new Promise((resolve) => setImmediate(resolve));
      }
      await pause;
      return ms;
    };
    expect([await pausedFor(), await pausedFor(), await pausedFor()]).toEqual([50, 100, 200]);
    backoff.reset();
    expect(await pausedFor()).toBe(50);
  });

  it('ends a pause when the signal aborts', async () => {
    const stopping = new AbortController();
    const pause = createBackoff(createFakeClock(), LIMITS).pause(stopping.signal);
    stopping.abort();
    await pause;
  });
});
