const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

export type Opened = AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;

/**
 * Hands on the items of an iterator that is opened with the first of them, and learns how it ends. A generator would do
 * the same, but it keeps its last item while it waits for the next one, which may take hours.
 */
export abstract class Relay implements AsyncIterableIterator<unknown> {
  /** Until it is asked for the first time. */
  #open: (() => Opened) | undefined;
  #source: AsyncIterator<unknown> | undefined;
  #over = false;

  constructor(open: () => Opened) {
    this.#open = open;
  }

  /** What stands for the failure. Nothing comes after it. */
  protected abstract failed(error: unknown): unknown;
  /** All items have been handed on. */
  protected ended(): void {}
  /** Whoever reads has left before that. */
  protected left(): void {}

  protected ask(source: AsyncIterator<unknown>): Promise<IteratorResult<unknown>> {
    return source.next();
  }

  protected pass(item: unknown): unknown {
    return item;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown>> {
    if (this.#over) return Promise.resolve(DONE);
    const asked = this.#source ? this.ask(this.#source) : this.#begin();
    return asked.then(this.#receive, this.#fail);
  }

  /** Ends what is read from. An item that somebody still waits for is the last one. */
  async return(): Promise<IteratorResult<unknown>> {
    try {
      await this.#source?.return?.();
      const isLeft = this.#open === undefined && !this.#over;
      this.#over = true;
      if (isLeft) this.left();
      return DONE;
    } catch (error) {
      throw this.#close(error);
    }
  }

  async #begin(): Promise<IteratorResult<unknown>> {
    const open = this.#open;
    this.#open = undefined;
    if (!open) return DONE;
    const source = (await open())[Symbol.asyncIterator]();
    this.#source = source;
    if (!this.#over) return this.ask(source);
    // Whoever reads has left while it was opened.
    await source.return?.();
    return DONE;
  }

  readonly #receive = (next: IteratorResult<unknown>): IteratorResult<unknown> => {
    try {
      if (!next.done) return { done: false, value: this.pass(next.value) };
      if (!this.#over) this.ended();
      this.#over = true;
      return DONE;
    } catch (error) {
      throw this.#close(error);
    }
  };

  readonly #fail = (error: unknown): never => {
    throw this.#close(error);
  };

  #close(error: unknown): unknown {
    if (this.#over) return error;
    this.#over = true;
    // Not awaited: a source that waits for its signal ends by itself, and the reader has already left.
    this.#source?.return?.()?.catch(() => {});
    return this.failed(error);
  }
}
