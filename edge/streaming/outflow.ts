import type { ServerResponse } from 'node:http';

/** Bytes a reader may lag behind before the journal waits for it. */
const LAG_BYTES = 1024 * 1024;

export type ResponseHeaders = Record<string, number | string | string[] | undefined>;

/** Whatever can send its reader away. */
export interface Drainable {
  drain(): void;
}

/** An answer that is written while its content comes into being. A reader who is too slow waits for itself alone. */
export class Outflow {
  readonly #response: ServerResponse;
  readonly #stallMs: number;
  readonly #owner: Drainable;
  #cut = false;

  /** Its owner sends a reader away that has read nothing for `stallMs`. */
  constructor(
    response: ServerResponse,
    headers: ResponseHeaders,
    stallMs: number,
    owner: Drainable,
    status = 200,
  ) {
    this.#response = response;
    this.#stallMs = stallMs;
    this.#owner = owner;
    response.writeHead(status, headers);
    // A head that waits for content is kept as the pieces it was made of.
    response.flushHeaders();
  }

  get open(): boolean {
    return !this.#cut && !this.#response.writableEnded && !this.#response.destroyed;
  }

  write(content: string | Uint8Array): void {
    if (this.open) this.#response.write(content);
  }

  /** Resolves when the reader has read enough for more to be sent. */
  async flushed(): Promise<void> {
    if (!this.open || this.#response.writableLength < LAG_BYTES) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      const timer = setTimeout(() => {
        this.#owner.drain();
        this.#cutUnlessRead();
        done();
      }, this.#stallMs);
      this.#response.once('drain', done).once('close', done);
    });
  }

  end(): void {
    if (this.open) this.#response.end();
  }

  /** Breaks off after what was written, in a way that a reader cannot take for the end. */
  cut(): void {
    if (!this.open) return;
    this.#cut = true;
    // Without the frame that ends an answer. Our side alone: what the system still has to send of a connection that is
    // given up altogether can be taken back by nobody.
    this.#response.socket?.end();
    this.#cutUnlessRead();
  }

  /** Who does not even read its farewell is cut off: what waits for it would be kept for ever. */
  #cutUnlessRead(): void {
    const timer = setTimeout(() => this.#response.destroy(), this.#stallMs);
    this.#response.once('close', () => clearTimeout(timer));
  }
}
