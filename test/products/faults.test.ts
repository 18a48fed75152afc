import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../support/clock.ts';
import { createDeliveryQueue } from '../support/products/deliveries.ts';
import { createFaultPlan, type FaultPlan, type FaultRates } from '../support/products/faults.ts';

const MIXED = { rate429: 0.1, rate5xx: 0.2, appliedThenCut: 0.3 };

function faultsOf(plan: FaultPlan, method: string, count: number): string[] {
  return Array.from({ length: count }, () => JSON.stringify(plan.forRequest(method)?.kind ?? null));
}

describe('createFaultPlan', () => {
  it('repeats its faults for the same seed and changes them for another', () => {
    const first = faultsOf(createFaultPlan(7, MIXED), 'chat.update', 100);
    expect(faultsOf(createFaultPlan(7, MIXED), 'chat.update', 100)).toEqual(first);
    expect(faultsOf(createFaultPlan(8, MIXED), 'chat.update', 100)).not.toEqual(first);
  });

  it('gives a method the same faults when other methods are called', () => {
    const alone = faultsOf(createFaultPlan(7, MIXED), 'chat.update', 50);
    const plan = createFaultPlan(7, MIXED);
    const mixed = alone.map(() => {
      plan.forRequest('chat.postMessage');
      return JSON.stringify(plan.forRequest('chat.update')?.kind ?? null);
    });
    expect(mixed).toEqual(alone);
  });

  it('injects each kind with its share', () => {
    const kinds = faultsOf(createFaultPlan(3, MIXED), 'chat.update', 10_000);
    const share = (kind: string) => kinds.filter((one) => one === `"${kind}"`).length / kinds.length;
    expect(share('rate_limited')).toBeCloseTo(0.1, 1);
    expect(share('server_error')).toBeCloseTo(0.2, 1);
    expect(share('applied_then_cut')).toBeCloseTo(0.3, 1);
  });

  it('injects enqueued faults first, also after stop, and records them', () => {
    const plan = createFaultPlan(3, { rate5xx: 1 });
    plan.enqueue('chat.update', undefined, { kind: 'applied_then_cut' });
    plan.stop();
    expect(faultsOf(plan, 'chat.update', 3)).toEqual(['null', '"applied_then_cut"', 'null']);
    expect(plan.injected).toEqual([{ method: 'chat.update', fault: { kind: 'applied_then_cut' } }]);
  });
});

describe('createDeliveryQueue', () => {
  function deliver(rates: FaultRates, ...deliveries: string[]) {
    const clock = createFakeClock();
    const arrived: string[] = [];
    const queue = createDeliveryQueue<string>(createFaultPlan(1, rates), clock, (one) => arrived.push(one));
    for (const delivery of deliveries) queue.add('C1', delivery);
    return { arrived, clock, queue };
  }

  it('sends each delivery once and in order without faults', () => {
    expect(deliver({}, 'a', 'b', 'c').arrived).toEqual(['a', 'b', 'c']);
  });

  it('sends a duplicated delivery twice', () => {
    expect(deliver({ duplicate: 1 }, 'a', 'b').arrived).toEqual(['a', 'a', 'b', 'b']);
  });

  it('sends a reordered delivery after the next one', () => {
    expect(deliver({ reorder: 1 }, 'a', 'b', 'c', 'd').arrived).toEqual(['b', 'a', 'd', 'c']);
  });

  it('sends a reordered delivery after a time limit when no other follows', () => {
    const { arrived, clock } = deliver({ reorder: 1 }, 'a');
    expect(arrived).toEqual([]);
    clock.advance(1_000);
    expect(arrived).toEqual(['a']);
  });

  it('sends no held delivery after it is closed', () => {
    const { arrived, clock, queue } = deliver({ reorder: 1 }, 'a');
    queue.close();
    clock.advance(1_000);
    expect(arrived).toEqual([]);
  });
});
