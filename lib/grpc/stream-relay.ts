const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

export type StreamSource = AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;

/**
 * Forwards the items of an iterator and observes how it ends. The iterator is opened by the first `next`. A generator
 * would do the same but retains its last item while it waits for the next one, which can take hours.
 */
export abstract class StreamRelay implements AsyncIterableIterator<unknown> {
  /** Set until the first `next`. */
  #open: (() => StreamSource) | undefined;
  #source: AsyncIterator<unknown> | undefined;
  #done = false;

  constructor(open: () => StreamSource) {
    this.#open = open;
  }

  /** Returns the error to throw. It is the last result. */
  protected abstract mapError(error: unknown): unknown;
  /** Called after the last item. */
  protected onEnd(): void {}
  /** Called when the reader stops before the last item. */
  protected onReturn(): void {}

  protected pull(source: AsyncIterator<unknown>): Promise<IteratorResult<unknown>> {
    return source.next();
  }

  protected mapItem(item: unknown): unknown {
    return item;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown>> {
    if (this.#done) return Promise.resolve(DONE);
    const next = this.#source ? this.pull(this.#source) : this.#openSource();
    return next.then(this.#receive, this.#fail);
  }

  /** Ends the source. An item that is already requested is the last one. */
  async return(): Promise<IteratorResult<unknown>> {
    try {
      await this.#source?.return?.();
      const isAbandoned = this.#open === undefined && !this.#done;
      this.#done = true;
      if (isAbandoned) this.onReturn();
      return DONE;
    } catch (error) {
      throw this.#close(error);
    }
  }

  async #openSource(): Promise<IteratorResult<unknown>> {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return DONE;
    const source = (await open())[Symbol.asyncIterator]();
    this.#source = source;
    if (!this.#done) return this.pull(source);
    // The reader stopped while the source was opening.
    await source.return?.();
    return DONE;
  }

  readonly #receive = (next: IteratorResult<unknown>): IteratorResult<unknown> => {
    try {
      if (!next.done) return { done: false, value: this.mapItem(next.value) };
      if (!this.#done) this.onEnd();
      this.#done = true;
      return DONE;
    } catch (error) {
      throw this.#close(error);
    }
  };

  readonly #fail = (error: unknown): never => {
    throw this.#close(error);
  };

  #close(error: unknown): unknown {
    if (this.#done) return error;
    this.#done = true;
    // Not awaited: a source that waits for its signal ends by itself, and the reader has stopped.
    this.#source?.return?.()?.catch(() => {});
    return this.mapError(error);
  }
}
