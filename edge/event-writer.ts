import type { ServerResponse } from 'node:http';
import type { Event } from '../proto/gen/ahs/sessions/v1/sessions.ts';

const HEARTBEAT_MS = 15_000;
const RETRY_MS = 2_000;
/** Bytes a follower may lag behind before the journal waits for it. */
const LAG_BYTES = 1024 * 1024;

/** What a stream has besides the headers of every answer. */
export const STREAM_HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no',
};

/** Writes one event stream. A follower who reads too slowly waits for itself alone, and is sent away when it stalls. */
export class EventWriter {
  readonly #response: ServerResponse;
  readonly #stallMs: number;
  readonly #heartbeat: NodeJS.Timeout;

  constructor(
    response: ServerResponse,
    headers: Record<string, number | string | string[] | undefined>,
    stallMs: number,
  ) {
    this.#response = response;
    this.#stallMs = stallMs;
    response.writeHead(200, { ...headers, ...STREAM_HEADERS });
    response.write(`retry: ${RETRY_MS}\n\n`);
    this.#heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS);
    response.once('close', () => clearInterval(this.#heartbeat));
  }

  get open(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed;
  }

  event({ seq, type, json }: Event): void {
    this.#write(`id: ${seq}\nevent: ${type}\ndata: ${json}\n\n`);
  }

  /** A frame that only says where the stream begins, so that a drop before the first event loses nothing. */
  place(seq: number): void {
    this.#write(`id: ${seq}\n\n`);
  }

  caughtUp(seq: number): void {
    this.#write(`event: stream.caught_up\ndata: {"seq":${seq}}\n\n`);
  }

  /** Resolves when the follower has read enough for more to be sent. */
  async flushed(): Promise<void> {
    if (!this.open || this.#response.writableLength < LAG_BYTES) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      const timer = setTimeout(() => {
        this.drain();
        this.#cutUnlessRead();
        done();
      }, this.#stallMs);
      this.#response.once('drain', done).once('close', done);
    });
  }

  /** Asks the client to come back, here or elsewhere, and ends the stream. */
  drain(): void {
    this.#write(`event: stream.draining\ndata: {"reconnect_after_ms":${RETRY_MS}}\n\n`);
    this.end();
  }

  end(): void {
    clearInterval(this.#heartbeat);
    if (this.open) this.#response.end();
  }

  /** Who does not even read its farewell is cut off: what waits for it would be kept for ever. */
  #cutUnlessRead(): void {
    const timer = setTimeout(() => this.#response.destroy(), this.#stallMs);
    this.#response.once('close', () => clearTimeout(timer));
  }

  #write(text: string): void {
    if (this.open) this.#response.write(text);
  }
}
