import { describe, expect, it } from 'vitest';
import { DelayedCalls } from '../../edge/delayed-calls.ts';
import { createFakeClock } from '../support/clock.ts';

describe('delayed calls', () => {
  it('are made in the order of their arrival, each after the delay', () => {
    const clock = createFakeClock();
    const calls = new DelayedCalls({ clock, delayMs: 500, max: 10 });
    const made: number[] = [];
    for (let id = 0; id < 5; id++) {
      calls.add(() => made.push(id));
      clock.advance(200);
    }
    expect(made).toEqual([0, 1, 2]);
    clock.advance(200);
    expect(made).toEqual([0, 1, 2, 3]);
    clock.advance(10_000);
    expect(made).toEqual([0, 1, 2, 3, 4]);
    calls.add(() => made.push(5));
    clock.advance(499);
    expect(made).toHaveLength(5);
    clock.advance(1);
    expect(made).toHaveLength(6);
  });

  it('are made at once beyond the maximum', () => {
    const clock = createFakeClock();
    const calls = new DelayedCalls({ clock, delayMs: 500, max: 2 });
    const made: number[] = [];
    for (let id = 0; id < 3; id++) calls.add(() => made.push(id));
    expect(made).toEqual([2]);
    clock.advance(500);
    expect(made).toEqual([2, 0, 1]);
  });
});
