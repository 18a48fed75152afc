import { describe, expect, it } from 'vitest';
import { Admission } from '../../edge/admission.ts';
import { createFakeClock } from '../support/clock.ts';

const SECONDS = 5;
const STEP_MS = 1;

interface Load {
  /** Requests that the service ends per millisecond. */
  capacity: number;
  /** Requests that arrive per millisecond, by deployment. */
  offered: Record<string, number>;
}

/** A service that ends requests in the order of their arrival. */
function createService() {
  const clock = createFakeClock();
  const admission = new Admission(clock);
  const queue: { deployment: string; arrivedAt: number; leave: () => void }[] = [];
  const waits: number[] = [];
  return {
    admission,
    clock,
    waits,
    /** Returns the accepted requests by deployment. */
    run({ capacity, offered }: Load, seconds: number): Record<string, number> {
      const accepted: Record<string, number> = {};
      for (let ms = 0; ms < seconds * 1_000; ms += STEP_MS) {
        for (const [deployment, count] of Object.entries(offered))
          for (let index = 0; index < count; index++) {
            const leave = admission.enter(deployment);
            if (leave) queue.push({ deployment, arrivedAt: clock.now().getTime(), leave });
          }
        clock.advance(STEP_MS);
        for (const { deployment, arrivedAt, leave } of queue.splice(0, capacity)) {
          leave();
          waits.push(clock.now().getTime() - arrivedAt);
          accepted[deployment] = (accepted[deployment] ?? 0) + 1;
        }
      }
      return accepted;
    },
  };
}

describe('the admission of webhook requests', () => {
  it('admits all requests of a burst that ends within the target time', () => {
    const { run, waits } = createService();
    expect(run({ capacity: 3, offered: { a: 1_000 } }, 0.001).a).toBe(3);
    expect(run({ capacity: 3, offered: {} }, 1).a).toBe(997);
    expect(Math.max(...waits)).toBeLessThan(500);
  });

  it('admits as many requests as the service can end at three times its capacity, and bounds their wait', () => {
    const { run, waits } = createService();
    const capacity = 3;
    const load = { capacity, offered: { a: 3 * capacity } };
    expect(run(load, SECONDS).a).toBe(capacity * SECONDS * 1_000);
    waits.length = 0;
    expect(run(load, SECONDS).a).toBe(capacity * SECONDS * 1_000);
    expect(waits.reduce((sum, wait) => sum + wait, 0) / waits.length).toBeLessThan(600);
    expect(Math.max(...waits)).toBeLessThan(1_000);
  });

  it('admits every request within three seconds after an overload', () => {
    const { run, admission, waits } = createService();
    run({ capacity: 3, offered: { a: 9 } }, SECONDS);
    run({ capacity: 3, offered: { a: 2 } }, 3);
    waits.length = 0;
    expect(run({ capacity: 3, offered: { a: 2 } }, SECONDS).a).toBe(2 * SECONDS * 1_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(2);
    expect(admission.running).toBe(0);
  });

  it('adapts to overload and calm after the system clock was set back', () => {
    const { run, clock, waits } = createService();
    const capacity = 3;
    run({ capacity, offered: { a: 3 * capacity } }, SECONDS);
    clock.advance(-3_600_000);
    run({ capacity, offered: { a: 3 * capacity } }, SECONDS);
    waits.length = 0;
    expect(run({ capacity, offered: { a: 3 * capacity } }, SECONDS).a).toBe(capacity * SECONDS * 1_000);
    expect(Math.max(...waits)).toBeLessThan(1_000);
    run({ capacity, offered: { a: 2 } }, 3);
    clock.advance(-3_600_000);
    run({ capacity, offered: { a: 2 } }, 1);
    expect(run({ capacity, offered: { a: 2 } }, SECONDS).a).toBe(2 * SECONDS * 1_000);
  });

  it('admits every request soon after an overload although the system clock was set back in between', () => {
    const { run, clock } = createService();
    run({ capacity: 3, offered: { a: 9 } }, SECONDS);
    clock.advance(-3_600_000);
    run({ capacity: 3, offered: {} }, 3);
    const burst = run({ capacity: 3_000, offered: { a: 3_000 } }, 0.001).a;
    expect(burst).toBe(3_000);
  });

  it('refuses no request of a deployment because another one sends too many', () => {
    const { run } = createService();
    run({ capacity: 6, offered: { many: 30 } }, SECONDS);
    expect(run({ capacity: 6, offered: { many: 30, few: 1 } }, SECONDS).few).toBeGreaterThan(
      0.9 * SECONDS * 1_000,
    );
  });
});
