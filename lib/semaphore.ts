import { refuse } from './errors.ts';
import { overloaded } from './overload.ts';

const MAX_WAITING = 1_000;

interface RunOptions {
  /** An operation whose caller has left before it starts is dropped. */
  signal?: AbortSignal | undefined;
  /** The operation is never refused, because the number of its callers is bounded. */
  always?: boolean;
}

/** Limits how many operations run at the same time. Waiting operations start in the order of their calls. */
export class Semaphore {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(permits: number) {
    this.#free = permits;
  }

  /**
   * Runs the operation as soon as a permit is free and releases the permit when the operation ends. Rejects with
   * DEPENDENCY_UNAVAILABLE when 1,000 operations wait, and with CANCELLED when the caller has left before the start.
   */
  async run<T>(operation: () => Promise<T>, { signal, always = false }: RunOptions = {}): Promise<T> {
    if (this.#free > 0) this.#free--;
    else if (!always && this.#waiting.length >= MAX_WAITING)
      throw overloaded('Too many operations wait. Try again later.');
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      if (signal?.aborted) throw refuse('CANCELLED', 'The caller disconnected before the response.');
      return await operation();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free++;
    }
  }
}
