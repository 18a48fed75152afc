import { type ItemReceiver, promiseNext, type ReceivableIterator, requestNext } from '../item-receiver.ts';

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

export type StreamSource = AsyncIterable<unknown> | Promise<AsyncIterable<unknown>>;

/**
 * Forwards the items of an iterator and observes how it ends. The iterator is opened by the first `next`. A generator
 * would do the same but retains its last item while it waits for the next one, which can take hours.
 */
export abstract class StreamRelay implements ReceivableIterator<unknown>, ItemReceiver<unknown> {
  /** Set until the first item is requested. */
  #open: (() => StreamSource) | undefined;
  #source: AsyncIterator<unknown> | undefined;
  /** Set while an item is requested. */
  #receiver: ItemReceiver<unknown> | undefined;
  #isReturning = false;
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

  protected mapItem(item: unknown): unknown {
    return item;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<unknown>> {
    return promiseNext(this);
  }

  nextTo(receiver: ItemReceiver<unknown>): void {
    if (this.#receiver) throw new Error('The stream has not passed on the item that was requested before.');
    if (this.#done) {
      receiver.receive(DONE);
      return;
    }
    this.#receiver = receiver;
    if (this.#source) requestNext(this.#source, this);
    else void this.#openSource();
  }

  /** Called by the source. Has no effect after `fail`. */
  receive(next: IteratorResult<unknown>): void {
    const receiver = this.#takeReceiver();
    if (!receiver) return;
    let result: IteratorResult<unknown>;
    try {
      result = this.#resultOf(next);
    } catch (error) {
      receiver.fail(this.#close(error));
      return;
    }
    receiver.receive(result);
  }

  /** Ends the stream with an error, if an item is requested. */
  fail(error: unknown): void {
    const receiver = this.#takeReceiver();
    receiver?.fail(this.#close(error));
  }

  /** Ends the source. An item that is already requested is the last one. */
  async return(): Promise<IteratorResult<unknown>> {
    this.#isReturning = true;
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

  /** Never rejects. */
  async #openSource(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    try {
      const source = await open?.();
      this.#source = source?.[Symbol.asyncIterator]();
      if (this.#source && !this.#done) {
        requestNext(this.#source, this);
        return;
      }
      // The reader stopped while the source was opening.
      await this.#source?.return?.();
      this.receive(DONE);
    } catch (error) {
      this.fail(error);
    }
  }

  #takeReceiver(): ItemReceiver<unknown> | undefined {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    return receiver;
  }

  #resultOf(next: IteratorResult<unknown>): IteratorResult<unknown> {
    if (!next.done) return { done: false, value: this.mapItem(next.value) };
    // `return` reports that the reader has stopped.
    if (this.#isReturning) return DONE;
    if (!this.#done) this.onEnd();
    this.#done = true;
    return DONE;
  }

  #close(error: unknown): unknown {
    if (this.#done) return error;
    this.#done = true;
    // Not awaited: a source that waits for its signal ends by itself, and the reader has stopped.
    this.#source?.return?.()?.catch(() => {});
    return this.mapError(error);
  }
}
