import { abortable } from './abortable.ts';

/**
 * The messages of a request, on their way to the service. What goes wrong in making them is kept: it is what the
 * caller hears, whatever the service makes of a request that ends too early.
 */
export class Upload implements AsyncIterableIterator<unknown> {
  failure: { error: unknown } | undefined;
  readonly #source: AsyncIterator<unknown>;
  readonly #signal: AbortSignal;
  readonly #pass: (message: unknown) => unknown;
  readonly #failed: () => void;

  /** `pass` makes of a message what is sent; `failed` is told as soon as there are no more. */
  constructor(
    source: AsyncIterable<unknown>,
    signal: AbortSignal,
    pass: (message: unknown) => unknown = (message) => message,
    failed: () => void = () => {},
  ) {
    this.#source = source[Symbol.asyncIterator]();
    this.#signal = signal;
    this.#pass = pass;
    this.#failed = failed;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown>> {
    const next = await abortable(this.#take(), this.#signal);
    return next.done ? next : { done: false, value: this.#pass(next.value) };
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.leave();
    return { done: true, value: undefined };
  }

  /** Not awaited: a source that waits for its client ends with it. */
  leave(): void {
    this.#source.return?.()?.catch(() => {});
  }

  async #take(): Promise<IteratorResult<unknown>> {
    try {
      return await this.#source.next();
    } catch (error) {
      this.failure = { error };
      this.#failed();
      throw error;
    }
  }
}
