import { Worker } from 'node:worker_threads';
import type { CommandEnd } from '../sandbox.ts';
import type { Done, Job } from './worker.ts';

/** What the shell itself needs. */
const OWN_MIB = 64;
const YOUNG_MIB = 16;

/** A thread with a simulated shell in it, which carries out one command at a time. */
export class Thread {
  readonly memoryMib: number;
  readonly #worker: Worker;
  #isEnded = false;
  #current: { done(done: Done): void; failed(end: CommandEnd): void } | undefined;

  private constructor(worker: Worker, memoryMib: number) {
    this.#worker = worker;
    this.memoryMib = memoryMib;
    worker.on('message', (done: Done) => {
      const current = this.#current;
      this.#current = undefined;
      worker.unref();
      current?.done(done);
    });
    worker.on('error', (error) => this.#fail(endOf(error)));
    worker.on('exit', () => this.#fail({ exitCode: null, cause: 'lost' }));
  }

  /** One that is ready. `memoryMib` is for the commands. */
  static async make(memoryMib: number): Promise<Thread> {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      // Nothing of the process reaches it: no variable, no argument, no stream.
      env: {},
      argv: [],
      execArgv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: OWN_MIB + memoryMib, maxYoungGenerationSizeMb: YOUNG_MIB },
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const ended = () => reject(new Error('the simulated shell ended before it began'));
    worker
      .once('message', () => resolve())
      .once('error', reject)
      .once('exit', ended);
    await promise;
    worker.off('error', reject).off('exit', ended);
    // One that has nothing to do keeps no process alive.
    worker.unref();
    return new Thread(worker, memoryMib);
  }

  /** It has nothing to do, and can do more. */
  get isFit(): boolean {
    return !this.#isEnded && this.#current === undefined;
  }

  /** Tells either what a command has come to, or why it did not come to its end. */
  begin(job: Job, done: (done: Done) => void, failed: (end: CommandEnd) => void): void {
    this.#current = { done, failed };
    this.#worker.ref();
    this.#worker.postMessage(job);
  }

  /** Ends it, whatever it does. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await this.#worker.terminate();
  }

  #fail(end: CommandEnd): void {
    this.#isEnded = true;
    this.#current?.failed(end);
  }
}

function endOf(error: unknown): CommandEnd {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ERR_WORKER_OUT_OF_MEMORY') return { exitCode: null, cause: 'memory' };
  return { exitCode: null, cause: 'lost', note: 'The simulated shell failed.' };
}
