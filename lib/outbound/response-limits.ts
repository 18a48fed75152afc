import type { Clock } from '../clock.ts';
import { OutboundError } from './outbound-error.ts';

export interface ResponseLimits {
  /** Limit of the received bytes, and of the bytes after decompression. */
  responseBytes: number;
  /** Time limit between bytes of the response, in milliseconds. A caller that stops reading reaches it, too. */
  silenceMs: number;
  /** Time limit of the whole request, in milliseconds. */
  totalMs: number;
}

/** A response may expand to this many times its received bytes; the first FREE_BYTES are exempt. */
const MAX_RATIO = 100;
const FREE_BYTES = 1024 * 1024;

/** Aborts a request that exceeds a limit. `signal.reason` is then an OutboundError. */
export class ResponseGuard {
  readonly #limits: ResponseLimits;
  readonly #clock: Clock;
  readonly #controller = new AbortController();
  readonly #caller: AbortSignal | undefined;
  readonly #cancelTotal: () => void;
  #cancelSilence = () => {};
  #received = 0;
  #decoded = 0;

  constructor(limits: ResponseLimits, clock: Clock, caller: AbortSignal | undefined) {
    this.#limits = limits;
    this.#clock = clock;
    this.#caller = caller;
    if (caller?.aborted) this.#abortByCaller();
    caller?.addEventListener('abort', this.#abortByCaller, { once: true });
    this.#cancelTotal = clock.after(limits.totalMs, () => this.#timeOut('did not finish'));
    this.noteProgress();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  abort(reason: unknown): void {
    this.#controller.abort(reason);
    this.finish();
  }

  /** Starts the limit of silence again. */
  noteProgress(): void {
    this.#cancelSilence();
    if (this.signal.aborted) return;
    this.#cancelSilence = this.#clock.after(this.#limits.silenceMs, () => this.#timeOut('sent nothing'));
  }

  noteReceived(bytes: number): void {
    this.#received += bytes;
    this.noteProgress();
    if (this.#received > this.#limits.responseBytes) this.#refuseSize();
  }

  /** Throws OutboundError. */
  noteDecoded(bytes: number): void {
    this.#decoded += bytes;
    if (this.#decoded > this.#limits.responseBytes) this.#refuseSize();
    if (this.#decoded > FREE_BYTES && this.#decoded > this.#received * MAX_RATIO)
      this.abort(
        new OutboundError('too_large', `The response expands to more than ${MAX_RATIO} times its size.`),
      );
    this.signal.throwIfAborted();
  }

  /** Ends the limits. Must be called when the response has ended. */
  finish(): void {
    this.#cancelTotal?.();
    this.#cancelSilence();
    this.#caller?.removeEventListener('abort', this.#abortByCaller);
  }

  #abortByCaller = (): void => this.abort(this.#caller?.reason);

  #refuseSize(): void {
    this.abort(
      new OutboundError('too_large', `The response has more than ${this.#limits.responseBytes} bytes.`),
    );
  }

  #timeOut(what: string): void {
    this.abort(new OutboundError('timed_out', `The server ${what} in time.`));
  }
}
