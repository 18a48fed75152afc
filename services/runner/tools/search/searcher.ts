import { Worker } from 'node:worker_threads';
import type { Clock } from '../../../../lib/clock.ts';
import type { Asked, Found, Search, Told } from './messages.ts';

/** How long one file, or one list of names, may take. */
const ANSWER_MS = 5_000;
const HEAP_MIB = 128;
const PROGRAM = new URL('./worker.ts', import.meta.url);

/** Tries a pattern on files, in a thread of its own that is ended when the pattern takes too long. */
export class Searcher implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #clock: Clock;
  readonly #gone: Promise<never>;

  constructor(search: Search, clock: Clock) {
    this.#clock = clock;
    this.#worker = new Worker(PROGRAM, {
      workerData: search,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
      // Nothing of the process is for it.
      env: {},
      stdout: true,
      stderr: true,
    });
    this.#gone = new Promise((_, reject) => {
      this.#worker.on('error', () => reject(new Error('The search needs too much memory.')));
      this.#worker.on('exit', () => reject(new Error('The search has ended.')));
    });
    this.#gone.catch(() => {});
    this.#worker.unref();
  }

  /** Of these paths, those whose names are wanted. */
  async wanted(paths: string[]): Promise<string[]> {
    const told = await this.#ask({ paths });
    return 'wanted' in told ? told.wanted : [];
  }

  /** The lines of a file in which the pattern is found. */
  async search(bytes: Uint8Array): Promise<Found[]> {
    const told = await this.#ask({ bytes });
    return 'found' in told ? told.found : [];
  }

  async #ask(asked: Asked): Promise<Told> {
    const answer = Promise.withResolvers<Told>();
    const cancel = this.#clock.after(ANSWER_MS, () =>
      answer.reject(new Error('The pattern takes too long to match: make it simpler.')),
    );
    this.#worker.once('message', answer.resolve);
    this.#worker.postMessage(asked);
    try {
      const told = await Promise.race([answer.promise, this.#gone]);
      if ('problem' in told) throw new Error(`The pattern is no regular expression: ${told.problem}`);
      return told;
    } finally {
      cancel();
      this.#worker.off('message', answer.resolve);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}
