import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../lib/clock.ts';
import { refuse } from '../../lib/errors.ts';
import { noteBufferBytes } from '../../lib/garbage-collection.ts';
import { sendContinue } from '../plugins/expectation.ts';

/** A client that sends fewer bytes than this in `stallMs` makes no progress. */
const PROGRESS_BYTES = 16 * 1024;

/**
 * Reads a request body in chunks of any size, no faster than its consumer. There is no overall time limit. The reader fails
 * when it has waited for the client for `stallMs` without progress; the time in which the consumer is busy does not count.
 */
export class BodyReader {
  readonly #request: IncomingMessage;
  readonly #stallMs: number;
  readonly #clock: Clock;
  #wake: (() => void) | undefined;
  #waitedMs = 0;
  #received = 0;
  #ended = false;
  #failure: Error | undefined;

  constructor(request: IncomingMessage, stallMs: number, clock: Clock) {
    this.#request = request;
    this.#stallMs = stallMs;
    this.#clock = clock;
    request.on('readable', this.#notify);
    request.on('end', this.#onEnd);
    request.on('close', this.#onClose);
    request.on('error', this.#onClose);
    sendContinue(request);
  }

  /**
   * Returns the next chunk; undefined at the end. Refuses with CANCELLED when the client disconnects and with
   * REQUEST_TIMEOUT when it makes no progress.
   */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      if (this.#failure) throw this.#failure;
      const bytes: Buffer | null = this.#request.read();
      if (bytes) {
        noteBufferBytes(bytes.length);
        this.#progress(bytes.length);
        return bytes;
      }
      if (this.#ended) return undefined;
      await this.#waitForData();
    }
  }

  /** The remaining chunks. Leaving the loop early does not discard the rest. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (let bytes = await this.next(); bytes; bytes = await this.next()) yield bytes;
  }

  /** Discards the rest of the body. A pending or later `next` rejects with `reason`. */
  discard(reason: Error = clientDisconnected()): void {
    this.#failure ??= reason;
    this.#request.off('readable', this.#notify).off('end', this.#onEnd).off('close', this.#onClose);
    this.#notify();
    this.#request.resume();
  }

  #progress(bytes: number): void {
    this.#received += bytes;
    if (this.#received < PROGRESS_BYTES) return;
    this.#received = 0;
    this.#waitedMs = 0;
  }

  async #waitForData(): Promise<void> {
    const startedAt = this.#clock.now().getTime();
    const cancelTimer = this.#clock.after(this.#stallMs - this.#waitedMs, this.#stall);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    cancelTimer();
    this.#waitedMs += this.#clock.now().getTime() - startedAt;
  }

  readonly #notify = (): void => {
    this.#wake?.();
    this.#wake = undefined;
  };

  readonly #onEnd = (): void => {
    this.#ended = true;
    this.#notify();
  };

  readonly #onClose = (): void => {
    if (this.#ended) return;
    this.#failure ??= clientDisconnected();
    this.#notify();
  };

  readonly #stall = (): void => {
    this.#failure ??= refuse(
      'REQUEST_TIMEOUT',
      'The client sent too little of the request body for too long.',
    );
    this.#notify();
  };
}

function clientDisconnected(): Error {
  return refuse('CANCELLED', 'The client disconnected before the end of the request.');
}
