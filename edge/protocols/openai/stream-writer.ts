import type { ServerResponse } from 'node:http';
import { type ResponseHeaders, ResponseWriter } from '../../streaming/response-writer.ts';
import { SSE_HEADERS, SSE_HEARTBEAT } from '../../streaming/sse.ts';
import type { StallMonitor } from '../../streaming/stall-monitor.ts';

/** Writes a stream of JSON objects as Server-Sent Events. */
export class ObjectStream {
  readonly #writer: ResponseWriter;
  readonly #beforeEnd: () => void;

  /** `beforeEnd` is called before this side ends the stream. */
  constructor(
    response: ServerResponse,
    headers: ResponseHeaders,
    monitor: StallMonitor,
    beforeEnd: () => void,
  ) {
    this.#beforeEnd = beforeEnd;
    this.#writer = new ResponseWriter(response, { ...headers, ...SSE_HEADERS }, monitor);
  }

  write(object: object, event?: string): void {
    const name = event === undefined ? '' : `event: ${event}\n`;
    this.#writer.write(`${name}data: ${JSON.stringify(object)}\n\n`);
  }

  /** Keeps proxies from closing an idle stream. */
  sendHeartbeat(): void {
    if (!this.#writer.isPending) this.#writer.write(SSE_HEARTBEAT);
  }

  flushed(): Promise<void> {
    return this.#writer.flushed();
  }

  /** Closes the connection without a regular end, because the process stops or the answer cannot be read further. */
  drain(): void {
    this.#beforeEnd();
    this.#writer.abort();
  }

  /** `last` is the data of the last event, if the stream has one that is no object. */
  end(last?: string): void {
    this.#beforeEnd();
    if (last !== undefined) this.#writer.write(`data: ${last}\n\n`);
    this.#writer.end();
  }
}
