import type { Clock } from '../../../../lib/clock.ts';
import type { Ground } from '../place.ts';
import type { SandboxProvider } from '../sandbox.ts';
import { MEMORY_MIB, SimulatedSandbox } from './sandbox.ts';
import { Threads } from './threads.ts';

export interface SimulatedSettings {
  ground: Ground;
  clock: Clock;
  /** It is the one that commands will have unless somebody says otherwise: the first of them need not wait for it. */
  isExpected?: boolean;
}

/** A shell that is only simulated, over files that are really there. It starts no program and speaks to nobody. */
export function simulatedProvider({ ground, clock, isExpected = false }: SimulatedSettings): SandboxProvider {
  const threads = new Threads();
  if (isExpected) threads.prepare(MEMORY_MIB);
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
