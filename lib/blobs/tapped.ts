import type { Source } from './blobs.ts';

/** A source that remembers its own failure, so that nobody takes it for one of the store. */
export class Tapped implements AsyncIterable<Uint8Array> {
  failure: { error: unknown } | undefined;
  readonly #source: Source;
  readonly #signal: AbortSignal | undefined;

  constructor(source: Source, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of this.#source) {
        this.#signal?.throwIfAborted();
        yield piece;
      }
    } catch (error) {
      if (!this.#signal?.aborted) this.failure = { error };
      throw error;
    }
    this.#signal?.throwIfAborted();
  }
}
