import type { Clock } from '../../../../lib/clock.ts';
import { refuse } from '../../../../lib/errors.ts';
import { Output } from '../output.ts';
import type { Ground, Place } from '../place.ts';
import type { Command, CommandEnd, LimitsInForce, Sandbox, SandboxSpec } from '../sandbox.ts';
import type { WorkspaceTree } from '../tree.ts';
import { HOME, variablesOf, WORKSPACE } from '../variables.ts';
import type { Threads } from './threads.ts';
import type { Done, Job } from './worker.ts';

export interface SimulatedOptions {
  spec: SandboxSpec;
  place: Place;
  ground: Ground;
  threads: Threads;
  clock: Clock;
}

/** What commands may use when nobody says otherwise. */
export const MEMORY_MIB = 256;
const DISK_MIB = 256;
const MIB = 1024 * 1024;

/** Commands of one thread each: one that does not end is ended with its thread. */
export class SimulatedSandbox implements Sandbox {
  readonly provider = 'simulated';
  readonly sandboxId: string;
  readonly limits: LimitsInForce;
  readonly #options: SimulatedOptions;
  readonly #memoryMib: number;
  readonly #diskMib: number;
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<CommandEnd>>();

  constructor(options: SimulatedOptions) {
    const { sandboxId, limits } = options.spec;
    this.sandboxId = sandboxId;
    this.#options = options;
    this.#memoryMib = limits.memoryMib ?? MEMORY_MIB;
    this.#diskMib = limits.diskMib ?? DISK_MIB;
    this.limits = {
      cpuMillis: { value: null, enforcement: 'none' },
      memoryMib: { value: this.#memoryMib, enforcement: 'process' },
      pids: { value: null, enforcement: 'none' },
      diskMib: { value: this.#diskMib, enforcement: 'sandbox' },
    };
    options.threads.prepare(this.#memoryMib);
  }

  async workspace(workspaceId: string): Promise<WorkspaceTree> {
    return this.#options.place.workspace(workspaceId);
  }

  async run(command: Command): Promise<CommandEnd> {
    const { place } = this.#options;
    if (this.#ending.signal.aborted) throw refuse('SANDBOX_UNAVAILABLE', 'The sandbox has been removed.');
    if (!place.has(command.workspaceId)) place.workspace(command.workspaceId);
    const running = this.#carryOut(command);
    this.#running.add(running);
    try {
      return await running;
    } finally {
      this.#running.delete(running);
    }
  }

  async suspend(): Promise<void> {}

  async resume(): Promise<void> {
    this.#options.threads.prepare(this.#memoryMib);
  }

  async destroy(): Promise<void> {
    this.#ending.abort();
    await Promise.allSettled(this.#running);
    await this.#options.ground.remove(this.sandboxId);
  }

  async #carryOut(command: Command): Promise<CommandEnd> {
    const { threads, clock } = this.#options;
    const signal = AbortSignal.any([command.signal, this.#ending.signal]);
    const thread = await threads.take(this.#memoryMib, signal);
    if (!thread) return { exitCode: null, cause: 'stopped' };
    const { promise, resolve } = Promise.withResolvers<CommandEnd>();
    const stop = () => resolve({ exitCode: null, cause: 'stopped' });
    const cancel = clock.after(command.timeoutMs, () => resolve({ exitCode: null, cause: 'timeout' }));
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) stop();
      else thread.begin(this.#jobOf(command), (done) => resolve(endOf(done, command)), resolve);
      return await promise;
    } finally {
      cancel();
      signal.removeEventListener('abort', stop);
      await threads.giveBack(thread);
    }
  }

  #jobOf(command: Command): Job {
    const { spec, place } = this.#options;
    return {
      script: command.script,
      stdin: command.stdin,
      mounts: [
        { at: WORKSPACE, root: place.pathOf(command.workspaceId), isTemporary: false },
        { at: '/tmp', root: place.tmp, isTemporary: true },
        { at: HOME, root: place.home, isTemporary: true },
      ],
      variables: variablesOf(spec, command),
      temporaryBytes: this.#diskMib * MIB,
      maxOutputBytes: command.maxOutputBytes,
    };
  }
}

function endOf({ exitCode, stdout, stderr, tooMuch }: Done, command: Command): CommandEnd {
  const output = new Output(command);
  const fits = output.take(stdout, 'stdout') && output.take(stderr, 'stderr');
  return fits && !tooMuch ? { exitCode } : { exitCode: null, cause: 'output' };
}
