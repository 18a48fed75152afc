import { describe, expect, it } from 'vitest';
import { startPeriodicTask } from '../../lib/periodic-task.ts';
import { createFakeClock } from '../support/clock.ts';
import { until } from '../support/wait.ts';

const EVERY_MS = 1_000;

/** A periodic task with controllable runs and recorded failures. */
function start() {
  const clock = createFakeClock();
  const failures: unknown[] = [];
  let runs = 0;
  let next: () => Promise<void> = async () => {};
  const task = startPeriodicTask({
    clock,
    everyMs: EVERY_MS,
    work: () => {
      runs++;
      return next();
    },
    onFailure: (error) => failures.push(error),
  });
  const runNext = async (does: () => Promise<void>) => {
    next = does;
    const before = runs;
    await until('the next run starts', async () => {
      clock.advance(EVERY_MS);
      return runs > before;
    });
  };
  const setWork = (work: () => Promise<void>) => {
    next = work;
  };
  return { clock, failures, task, runNext, setWork, runs: () => runs };
}

const fail = (error: unknown) => {
  throw error;
};

describe('startPeriodicTask', () => {
  it('reports each outage once', async () => {
    const { failures, task, runNext } = start();
    const failing = (word: string) => async () => {
      throw new Error(word);
    };
    await runNext(failing('one'));
    await runNext(failing('one, still'));
    await runNext(async () => {});
    await runNext(failing('two'));
    await task.stop();
    expect(failures.map(String)).toEqual(['Error: one', 'Error: two']);
  });

  it('waits for the current run when stopped and starts no further run', async () => {
    const { clock, failures, task, runNext, runs } = start();
    const { promise, reject } = Promise.withResolvers<void>();
    await runNext(() => promise);
    clock.advance(10 * EVERY_MS);
    expect(runs()).toBe(1);
    const stopping = task.stop();
    reject(new Error('given up'));
    await stopping;
    clock.advance(10 * EVERY_MS);
    expect(runs()).toBe(1);
    expect(failures).toEqual([]);
  });

  it('waits a time of its own before the first run', async () => {
    const clock = createFakeClock();
    let runs = 0;
    const work = async () => void runs++;
    const task = startPeriodicTask({ clock, everyMs: EVERY_MS, firstAfterMs: 10, work, onFailure: fail });
    clock.advance(9);
    expect(runs).toBe(0);
    clock.advance(1);
    expect(runs).toBe(1);
    await task.stop();
  });

  it('starts a requested run at once, and one more for all requests during a run', async () => {
    const { clock, task, runs, setWork } = start();
    const { promise, resolve } = Promise.withResolvers<void>();
    setWork(() => promise);
    task.request();
    for (let request = 0; request < 3; request++) task.request();
    expect(runs()).toBe(1);
    setWork(async () => {});
    resolve();
    await until('the requested run has ended', () => clock.pending === 1 && runs() === 2);
    clock.advance(EVERY_MS - 1);
    expect(runs()).toBe(2);
    clock.advance(1);
    expect(runs()).toBe(3);
    await task.stop();
    task.request();
    expect(runs()).toBe(3);
  });
});
