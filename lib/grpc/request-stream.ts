import { abortable } from './abortable.ts';

/**
 * The request stream of a call. It records a failure of its source: the caller gets that error instead of the service's
 * response to a truncated request.
 */
export class RequestStream implements AsyncIterableIterator<unknown> {
  failure: { error: unknown } | undefined;
  readonly #source: AsyncIterator<unknown>;
  readonly #signal: AbortSignal;
  readonly #mapMessage: (message: unknown) => unknown;
  readonly #onFailure: () => void;

  /** `mapMessage` converts each message before it is sent. `onFailure` is called when the source fails. */
  constructor(
    source: AsyncIterable<unknown>,
    signal: AbortSignal,
    mapMessage: (message: unknown) => unknown = (message) => message,
    onFailure: () => void = () => {},
  ) {
    this.#source = source[Symbol.asyncIterator]();
    this.#signal = signal;
    this.#mapMessage = mapMessage;
    this.#onFailure = onFailure;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<unknown>> {
    const next = await abortable(this.#pull(), this.#signal);
    return next.done ? next : { done: false, value: this.#mapMessage(next.value) };
  }

  async return(): Promise<IteratorResult<unknown>> {
    this.close();
    return { done: true, value: undefined };
  }

  /** Closes the source without waiting. A source that waits for its client ends when the client disconnects. */
  close(): void {
    this.#source.return?.()?.catch(() => {});
  }

  async #pull(): Promise<IteratorResult<unknown>> {
    try {
      return await this.#source.next();
    } catch (error) {
      this.failure = { error };
      this.#onFailure();
      throw error;
    }
  }
}
