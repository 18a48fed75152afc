import { join } from 'node:path';
import type { Clock } from '../../../../lib/clock.ts';
import { refuse } from '../../../../lib/errors.ts';
import { OutputLimiter } from '../../sandbox/output-limiter.ts';
import type { Command, CommandResult, EffectiveLimits, Sandbox, SandboxSpec } from '../../sandbox/sandbox.ts';
import { environmentVariables, HOME_PATH, SKILLS_PATH, WORKSPACE_PATH } from '../../sandbox/variables.ts';
import type { WorkspaceTree } from '../../sandbox/workspace-tree.ts';
import type { CopyDirectory } from '../copy-directory.ts';
import type { SandboxDirectory } from '../sandbox-directory.ts';
import type { SandboxRoot } from '../sandbox-root.ts';
import { filesOfCopy } from '../skill-directory.ts';
import { copyLimits } from '../space/space-limits.ts';
import type { ShellThreadPool } from './thread-pool.ts';
import type { ShellJob, ShellResult } from './worker.ts';

interface SimulatedSandboxOptions {
  spec: SandboxSpec;
  directory: SandboxDirectory;
  /** The directory with the copies of skills of this runner. */
  skillDirectory: string;
  root: SandboxRoot;
  threads: ShellThreadPool;
  clock: Clock;
}

/** Limits of a sandbox whose environment sets none. */
export const DEFAULT_MEMORY_MIB = 256;
const DEFAULT_DISK_MIB = 256;
const MIB = 1024 * 1024;

/** How limits of disk space are enforced. */
export const SIMULATED_COPIES = 'simulated shell';

/** Runs each command in a thread, which is terminated when the command must end early. */
export class SimulatedSandbox implements Sandbox {
  readonly provider = 'simulated';
  readonly sandboxId: string;
  readonly limits: EffectiveLimits;
  readonly #options: SimulatedSandboxOptions;
  readonly #memoryMib: number;
  readonly #diskMib: number;
  readonly #ending = new AbortController();
  readonly #running = new Set<Promise<CommandResult>>();

  constructor(options: SimulatedSandboxOptions) {
    const { sandboxId, limits } = options.spec;
    this.sandboxId = sandboxId;
    this.#options = options;
    this.#memoryMib = limits.memoryMib ?? DEFAULT_MEMORY_MIB;
    this.#diskMib = limits.diskMib ?? DEFAULT_DISK_MIB;
    this.limits = {
      cpuMillis: { value: null, enforcement: 'none' },
      memoryMib: { value: this.#memoryMib, enforcement: 'process' },
      pids: { value: null, enforcement: 'none' },
      diskMib: { value: this.#diskMib, enforcement: 'sandbox', method: SIMULATED_COPIES },
      ...copyLimits(options.directory.limit, SIMULATED_COPIES),
    };
    options.threads.prepare(this.#memoryMib);
  }

  async workspace(workspaceId: string): Promise<WorkspaceTree> {
    return (await this.#options.directory.copy(workspaceId)).tree;
  }

  removeWorkspace(workspaceId: string): Promise<void> {
    return this.#options.directory.removeCopy(workspaceId);
  }

  async run(command: Command): Promise<CommandResult> {
    const { directory } = this.#options;
    if (this.#ending.signal.aborted) throw refuse('SANDBOX_UNAVAILABLE', 'The sandbox was removed.');
    const running = this.#runInThread(command, await directory.copy(command.workspaceId));
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
    await this.#options.root.remove(this.sandboxId);
  }

  async #runInThread(command: Command, copy: CopyDirectory): Promise<CommandResult> {
    const { threads, clock } = this.#options;
    const signal = AbortSignal.any([command.signal, this.#ending.signal]);
    const thread = await threads.acquire(this.#memoryMib, signal);
    if (!thread) return { exitCode: null, cause: 'stopped' };
    const { promise, resolve, reject } = Promise.withResolvers<CommandResult>();
    const stop = () => resolve({ exitCode: null, cause: 'stopped' });
    const cancelTimeout = clock.after(command.timeoutMs, () => resolve({ exitCode: null, cause: 'timeout' }));
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) stop();
      else
        thread.run(this.#jobOf(command, copy), {
          done: (result) => resolve(resultOf(result, command)),
          ended: resolve,
          failed: reject,
        });
      return await promise;
    } finally {
      cancelTimeout();
      signal.removeEventListener('abort', stop);
      await threads.release(thread);
    }
  }

  #jobOf(command: Command, copy: CopyDirectory): ShellJob {
    const { spec, directory, skillDirectory, root } = this.#options;
    const { skills = [] } = command;
    return {
      script: command.script,
      stdin: command.stdin,
      mounts: [
        { mountPoint: WORKSPACE_PATH, directory: copy.files, use: 'workspace' },
        { mountPoint: '/tmp', directory: directory.tmp, use: 'temporary' },
        { mountPoint: HOME_PATH, directory: directory.home, use: 'temporary' },
        ...skills.map(({ name, copy: skill }) => ({
          mountPoint: `${SKILLS_PATH}/${name}`,
          directory: join(skillDirectory, filesOfCopy(skill)),
          use: 'skill' as const,
        })),
      ],
      variables: environmentVariables(spec, command),
      space: {
        temporaryBytes: this.#diskMib * MIB,
        workspace: directory.limit,
        fileBytes: root.limits.fileBytes,
        used: copy.knownSpace,
        freeBytes: root.monitor.freeBytes(),
      },
      maxOutputBytes: command.maxOutputBytes,
    };
  }
}

function resultOf(
  { exitCode, stdout, stderr, outputExceeded, reachedLimit }: ShellResult,
  command: Command,
): CommandResult {
  const output = new OutputLimiter(command);
  const fits = output.forward(stdout, 'stdout') && output.forward(stderr, 'stderr');
  const space = reachedLimit === undefined ? {} : { reachedLimit };
  return fits && !outputExceeded ? { exitCode, ...space } : { exitCode: null, cause: 'output', ...space };
}
