import type { IncomingMessage } from 'node:http';
import { refuse } from '../../lib/errors.ts';
import { letPass } from '../../lib/garbage.ts';
import { invite } from '../plugins/expectation.ts';

/** Whoever sends less than this while we wait for `stallMs` makes no progress. */
const PROGRESS_BYTES = 16 * 1024;

/**
 * The body of a request, in pieces of whatever size, read no faster than it is asked for. It may take as long as it
 * takes, as long as something comes; only the time in which we wait for the client counts.
 */
export class Inflow {
  readonly #request: IncomingMessage;
  readonly #stallMs: number;
  #wake: (() => void) | undefined;
  #waitedMs = 0;
  #received = 0;
  #ended = false;
  #failure: Error | undefined;

  constructor(request: IncomingMessage, stallMs: number) {
    this.#request = request;
    this.#stallMs = stallMs;
    request.on('readable', this.#stir);
    request.on('end', this.#end);
    request.on('close', this.#leave);
    request.on('error', this.#leave);
    invite(request);
  }

  /** Undefined at the end. Refused with CANCELLED when the client leaves, with REQUEST_TIMEOUT when it sends nothing. */
  async next(): Promise<Buffer | undefined> {
    for (;;) {
      if (this.#failure) throw this.#failure;
      const bytes: Buffer | null = this.#request.read();
      if (bytes) {
        letPass(bytes.length);
        this.#progress(bytes.length);
        return bytes;
      }
      if (this.#ended) return undefined;
      await this.#more();
    }
  }

  /** Its pieces, up to the end; who stops before that leaves it as it is. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    for (let bytes = await this.next(); bytes; bytes = await this.next()) yield bytes;
  }

  /** Nothing more is wanted: what still comes is nobody's. Whoever waits for it is told `reason`. */
  leave(reason: Error = gone()): void {
    this.#failure ??= reason;
    this.#request.off('readable', this.#stir).off('end', this.#end).off('close', this.#leave);
    this.#stir();
    this.#request.resume();
  }

  #progress(bytes: number): void {
    this.#received += bytes;
    if (this.#received < PROGRESS_BYTES) return;
    this.#received = 0;
    this.#waitedMs = 0;
  }

  async #more(): Promise<void> {
    const begunAt = performance.now();
    const timer = setTimeout(this.#stall, this.#stallMs - this.#waitedMs);
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    clearTimeout(timer);
    this.#waitedMs += performance.now() - begunAt;
  }

  readonly #stir = (): void => {
    this.#wake?.();
    this.#wake = undefined;
  };

  readonly #end = (): void => {
    this.#ended = true;
    this.#stir();
  };

  readonly #leave = (): void => {
    if (this.#ended) return;
    this.#failure ??= gone();
    this.#stir();
  };

  readonly #stall = (): void => {
    this.#failure ??= refuse('REQUEST_TIMEOUT', 'too little of the request arrived for too long');
    this.#stir();
  };
}

function gone(): Error {
  return refuse('CANCELLED', 'the client left before the end of the request');
}
