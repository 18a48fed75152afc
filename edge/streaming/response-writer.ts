import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { MonitoredResponse, StallMonitor } from './stall-monitor.ts';

/** `flushed` waits while at least this many bytes are queued in this process. */
const QUEUE_BYTES = 64 * 1024;

export type ResponseHeaders = Record<string, number | string | string[] | undefined>;

/** Writes a response piece by piece, at the speed of its client. */
export class ResponseWriter implements MonitoredResponse {
  readonly #response: ServerResponse;
  readonly #monitor: StallMonitor;
  #aborted = false;
  /** In the units of the length of strings and buffers, which `writableLength` also counts. */
  #writtenLength = 0;

  /** The monitor resets the connection of a client that has stopped reading. */
  constructor(response: ServerResponse, headers: ResponseHeaders, monitor: StallMonitor, status = 200) {
    this.#response = response;
    this.#monitor = monitor;
    response.writeHead(status, headers);
    // Headers that wait for content are retained as the objects they were made of.
    response.flushHeaders();
  }

  get open(): boolean {
    return !this.#aborted && !this.#response.writableEnded && !this.#response.destroyed;
  }

  get isPending(): boolean {
    if (this.#response.destroyed) return false;
    return this.#aborted || this.#response.writableLength > 0;
  }

  get acceptedBytes(): number {
    return this.#writtenLength - this.#response.writableLength;
  }

  get socket(): Socket | null {
    return this.#response.socket;
  }

  write(content: string | Uint8Array): void {
    if (!this.open) return;
    this.#writtenLength += content.length;
    this.#response.write(content);
    this.#monitor.note(this);
  }

  /** Resolves when the client has read enough for more data to be written, or when the connection is closed. */
  async flushed(): Promise<void> {
    if (!this.open || this.#response.writableLength < QUEUE_BYTES) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        this.#response.off('drain', done).off('close', done);
        resolve();
      };
      this.#response.once('drain', done).once('close', done);
    });
  }

  end(): void {
    if (this.open) this.#response.end();
  }

  /**
   * Closes the connection after the written data without a regular end, so that the client detects an incomplete response.
   * The monitor destroys the connection of a client that does not read the rest or does not close its side.
   */
  abort(): void {
    if (!this.open) return;
    this.#aborted = true;
    // Only this side is closed, without the final chunk. Destroying the socket would discard data that the operating
    // system has not sent yet.
    this.#response.socket?.end();
    this.#monitor.note(this);
  }

  /** The client detects an incomplete response. A reset also discards the data that the operating system holds. */
  reset(): void {
    // A connection whose side is already closed cannot be reset.
    if (this.#aborted || !this.#response.socket) this.#response.destroy();
    else this.#response.socket.resetAndDestroy();
  }
}
