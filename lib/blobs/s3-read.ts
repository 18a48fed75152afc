import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { http } from '../http.ts';

const MIB = 1024 * 1024;

/**
 * Yields the body of a response. Fails when a MiB of it takes longer than `limitMs`, not counting the time of the reader,
 * when the signal aborts, and when the end of the body cannot be recognized. `isRange`: the request named a range.
 */
export async function* readBody(
  body: Readable,
  { isRange, limitMs, signal }: { isRange: boolean; limitMs: number; signal?: AbortSignal | undefined },
): AsyncGenerator<Uint8Array> {
  const cancel = () => body.destroy(new Error('The caller disconnected.'));
  const pace = new Pace(limitMs);
  const watch = setInterval(
    () => {
      if (pace.isTooSlow())
        body.destroy(new Error(`The object store sent less than 1 MiB in ${limitMs} ms.`));
    },
    Math.min(limitMs / 4, 1_000),
  ).unref();
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    if (body instanceof http.IncomingMessage) checkResponse(body, isRange);
    for await (const chunk of body) {
      pace.received(chunk.length);
      yield chunk;
      pace.wait();
    }
  } finally {
    clearInterval(watch);
    signal?.removeEventListener('abort', cancel);
    body.destroy();
  }
}

/** Without these checks, a response that was cut or is for another range would look like damaged bytes. */
function checkResponse({ statusCode, headers }: IncomingMessage, isRange: boolean): void {
  if (isRange && statusCode !== 206) throw new Error('The object store ignored the range of a read.');
  if (headers['content-length'] === undefined && headers['transfer-encoding'] === undefined)
    throw new Error('The object store sent an object without its length.');
}

/** Adds up the time that a reader waits for each MiB. */
class Pace {
  readonly #limitMs: number;
  #waitedMs = 0;
  #bytes = 0;
  /** The time at which the reader began to wait; undefined while it uses a chunk. */
  #waitsSince: number | undefined = performance.now();

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  wait(): void {
    this.#waitsSince = performance.now();
  }

  received(bytes: number): void {
    this.#waitedMs = this.#total();
    this.#waitsSince = undefined;
    this.#bytes += bytes;
    if (this.#bytes < MIB) return;
    this.#bytes = 0;
    this.#waitedMs = 0;
  }

  isTooSlow(): boolean {
    return this.#total() > this.#limitMs;
  }

  #total(): number {
    return this.#waitedMs + (this.#waitsSince === undefined ? 0 : performance.now() - this.#waitsSince);
  }
}
