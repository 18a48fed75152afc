import type { Clock } from '../../../../lib/clock.ts';
import type { SandboxProvider } from '../../sandbox/sandbox.ts';
import type { SandboxRoot } from '../sandbox-root.ts';
import { DEFAULT_MEMORY_MIB, SimulatedSandbox } from './sandbox.ts';
import { ShellThreadPool } from './thread-pool.ts';

interface SimulatedProviderOptions {
  root: SandboxRoot;
  clock: Clock;
  /** Whether this is the default provider. A thread is started in advance then, for the first command. */
  isDefault?: boolean;
}

/** Creates sandboxes with a simulated shell over real files. It starts no program and has no network. */
export function createSimulatedProvider({
  root,
  clock,
  isDefault = false,
}: SimulatedProviderOptions): SandboxProvider {
  const threads = new ShellThreadPool();
  if (isDefault) threads.prepare(DEFAULT_MEMORY_MIB);
  return {
    name: 'simulated',
    async create(spec) {
      const { workspaceMib } = spec.limits;
      const directory = root.create(spec.sandboxId, { workspaceMib });
      return new SimulatedSandbox({ spec, directory, root, threads, clock });
    },
    sweep: () => root.sweep(),
  };
}
