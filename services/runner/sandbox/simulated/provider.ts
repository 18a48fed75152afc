import type { Clock } from '../../../../lib/clock.ts';
import type { Ground } from '../place.ts';
import type { SandboxProvider } from '../sandbox.ts';
import { SimulatedSandbox } from './sandbox.ts';
import { Threads } from './threads.ts';

/** A shell that is only simulated, over files that are really there. It starts no program and speaks to nobody. */
export function simulatedProvider({ ground, clock }: { ground: Ground; clock: Clock }): SandboxProvider {
  const threads = new Threads();
  return {
    name: 'simulated',
    async create(spec) {
      return new SimulatedSandbox({ spec, place: ground.make(spec.sandboxId), ground, threads, clock });
    },
    async attach(spec) {
      const place = ground.find(spec.sandboxId);
      return place && new SimulatedSandbox({ spec, place, ground, threads, clock });
    },
    sweep: (kept) => ground.sweep(kept),
  };
}
