import type { Clock } from '../../../../lib/clock.ts';
import type { SandboxProvider } from '../../sandbox/sandbox.ts';
import type { SandboxRoot } from '../sandbox-root.ts';
import { DEFAULT_MEMORY_MIB, SimulatedSandbox } from './sandbox.ts';
import { ShellThreadPool } from './thread-pool.ts';

interface SimulatedProviderOptions {
  root: SandboxRoot;
  /** The directory with the copies of skills of this runner. */
  skillDirectory: string;
  clock: Clock;
  /** Whether this is the default provider. A thread is started in advance then, for the first command. */
  isDefault?: boolean;
  /** Shared with other providers of the process. */
  threads?: ShellThreadPool;
}

/** Creates sandboxes with a simulated shell over real files. It starts no program and has no network. */
export function createSimulatedProvider({
  root,
  skillDirectory,
  clock,
  isDefault = false,
  threads = new ShellThreadPool(),
}: SimulatedProviderOptions): SandboxProvider {
  if (isDefault) threads.prepare(DEFAULT_MEMORY_MIB);
  return {
    name: 'simulated',
    async create(spec) {
      const { workspaceMib } = spec.limits;
      const directory = root.create(spec.sandboxId, { workspaceMib });
      return new SimulatedSandbox({ spec, directory, skillDirectory, root, threads, clock });
    },
    sweep: () => root.sweep(),
  };
}
