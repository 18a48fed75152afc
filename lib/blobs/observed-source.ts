import type { ByteSource } from './blobs.ts';

/** A source that records its own failure, so that callers can distinguish it from a failure of the store. */
export class ObservedSource implements AsyncIterable<Uint8Array> {
  failure: { error: unknown } | undefined;
  readonly #source: ByteSource;
  readonly #signal: AbortSignal | undefined;

  constructor(source: ByteSource, signal: AbortSignal | undefined) {
    this.#source = source;
    this.#signal = signal;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of this.#source) {
        this.#signal?.throwIfAborted();
        yield chunk;
      }
    } catch (error) {
      if (!this.#signal?.aborted) this.failure = { error };
      throw error;
    }
    this.#signal?.throwIfAborted();
  }
}
