import { describe, expect, it } from 'vitest';
import { startRounds } from '../../lib/rounds.ts';
import { createFakeClock } from '../support/clock.ts';
import { until } from '../support/wait.ts';

const EVERY_MS = 1_000;

/** Rounds that do what they are told, and what is seen of them. */
function begin() {
  const clock = createFakeClock();
  const told: unknown[] = [];
  let begun = 0;
  let next: () => Promise<void> = async () => {};
  const rounds = startRounds({
    clock,
    everyMs: EVERY_MS,
    work: () => {
      begun++;
      return next();
    },
    onFailure: (error) => told.push(error),
  });
  const round = async (does: () => Promise<void>) => {
    next = does;
    const before = begun;
    await until('the next round has begun', async () => {
      clock.advance(EVERY_MS);
      return begun > before;
    });
  };
  return { clock, told, rounds, round, begun: () => begun };
}

describe('rounds', () => {
  it('tell of an outage once, and of the next one again', async () => {
    const { told, rounds, round } = begin();
    const failing = (word: string) => async () => {
      throw new Error(word);
    };
    await round(failing('one'));
    await round(failing('one, still'));
    await round(async () => {});
    await round(failing('two'));
    await rounds.stop();
    expect(told.map(String)).toEqual(['Error: one', 'Error: two']);
  });

  it('wait for the one under way when they are stopped, and begin none after it', async () => {
    const { clock, told, rounds, round, begun } = begin();
    const { promise, reject } = Promise.withResolvers<void>();
    await round(() => promise);
    clock.advance(10 * EVERY_MS);
    expect(begun()).toBe(1);
    const stopping = rounds.stop();
    reject(new Error('given up'));
    await stopping;
    clock.advance(10 * EVERY_MS);
    expect(begun()).toBe(1);
    expect(told).toEqual([]);
  });
});
