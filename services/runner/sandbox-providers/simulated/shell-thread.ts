import { Worker } from 'node:worker_threads';
import type { CommandResult } from '../../sandbox/sandbox.ts';
import { SandboxError } from '../../sandbox/sandbox-error.ts';
import type { ShellJob, ShellResult } from './worker.ts';

/** Memory for the shell itself, in addition to the memory limit of commands. */
const SHELL_MEMORY_MIB = 64;
const YOUNG_GENERATION_MIB = 16;

/** Exactly one of these is called for each job, unless the thread is terminated first. */
interface ShellJobCallbacks {
  done(result: ShellResult): void;
  /** The thread ended before the command did, because of its memory limit or for an unknown reason. */
  ended(result: CommandResult): void;
  /** The shell threw an exception that it did not handle. */
  failed(error: unknown): void;
}

/** A worker thread with a simulated shell, which runs one command at a time. */
export class ShellThread {
  readonly memoryMib: number;
  readonly #worker: Worker;
  #isEnded = false;
  #current: ShellJobCallbacks | undefined;

  private constructor(worker: Worker, memoryMib: number) {
    this.#worker = worker;
    this.memoryMib = memoryMib;
    worker.on('message', (result: ShellResult) => {
      worker.unref();
      this.#takeCallbacks()?.done(result);
    });
    worker.on('error', (error) => {
      this.#isEnded = true;
      if (isOutOfMemory(error)) this.#takeCallbacks()?.ended({ exitCode: null, cause: 'memory' });
      else this.#takeCallbacks()?.failed(error);
    });
    worker.on('exit', () => {
      this.#isEnded = true;
      this.#takeCallbacks()?.ended({ exitCode: null, cause: 'lost' });
    });
  }

  /** Resolves when the thread is ready. `memoryMib` limits the memory of its commands. */
  static async start(memoryMib: number): Promise<ShellThread> {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      // The thread receives no environment variable, argument or stream of the process.
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: {
        maxOldGenerationSizeMb: SHELL_MEMORY_MIB + memoryMib,
        maxYoungGenerationSizeMb: YOUNG_GENERATION_MIB,
      },
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ended = () =>
      reject(new SandboxError('The thread of the simulated shell ended before it was ready.'));
    const failed = (error: unknown) => (isOutOfMemory(error) ? ended() : reject(error));
    worker
      .once('message', () => resolve())
      .once('error', failed)
      .once('exit', ended);
    await promise;
    worker.off('error', failed).off('exit', ended);
    // An idle thread must not keep the process alive.
    worker.unref();
    return new ShellThread(worker, memoryMib);
  }

  /** Whether the thread is idle and can run another command. */
  get isReusable(): boolean {
    return !this.#isEnded && this.#current === undefined;
  }

  run(job: ShellJob, callbacks: ShellJobCallbacks): void {
    this.#current = callbacks;
    this.#worker.ref();
    this.#worker.postMessage(job);
  }

  /** Terminates the thread, even while a command runs. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#worker.terminate();
  }

  #takeCallbacks(): ShellJobCallbacks | undefined {
    const current = this.#current;
    this.#current = undefined;
    return current;
  }
}

const isOutOfMemory = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_WORKER_OUT_OF_MEMORY';
