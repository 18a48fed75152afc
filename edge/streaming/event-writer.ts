import type { ServerResponse } from 'node:http';
import type { Event } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { Outflow, type ResponseHeaders } from './outflow.ts';
import { RETRY_MS, SSE_BEGIN, SSE_HEADERS, SSE_HEARTBEAT } from './sse.ts';

/** Writes the events of a journal as an event stream. */
export class EventWriter {
  readonly #outflow: Outflow;

  constructor(response: ServerResponse, headers: ResponseHeaders, stallMs: number) {
    this.#outflow = new Outflow(response, { ...headers, ...SSE_HEADERS }, stallMs, this);
    this.#outflow.write(SSE_BEGIN);
  }

  get open(): boolean {
    return this.#outflow.open;
  }

  event({ seq, type, json }: Event): void {
    this.#outflow.write(`id: ${seq}\nevent: ${type}\ndata: ${json}\n\n`);
  }

  /** A frame that only says where the stream begins, so that a drop before the first event loses nothing. */
  place(seq: number): void {
    this.#outflow.write(`id: ${seq}\n\n`);
  }

  caughtUp(seq: number): void {
    this.#outflow.write(`event: stream.caught_up\ndata: {"seq":${seq}}\n\n`);
  }

  /** Keeps the stream from being taken for dead. */
  beat(): void {
    this.#outflow.write(SSE_HEARTBEAT);
  }

  flushed(): Promise<void> {
    return this.#outflow.flushed();
  }

  /** Asks the client to come back, here or elsewhere, and ends the stream. */
  drain(): void {
    this.#outflow.write(`event: stream.draining\ndata: {"reconnect_after_ms":${RETRY_MS}}\n\n`);
    this.end();
  }

  end(): void {
    this.#outflow.end();
  }
}
