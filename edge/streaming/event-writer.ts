import type { ServerResponse } from 'node:http';
import type { Event, FollowResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type ResponseHeaders, ResponseWriter } from './response-writer.ts';
import { framesText, type SharedFrames } from './shared-frames.ts';
import { RETRY_MS, SSE_BEGIN, SSE_HEADERS, SSE_HEARTBEAT } from './sse.ts';
import type { StallMonitor } from './stall-monitor.ts';

/** The bytes of a chunk that is at least this long are shared with other streams. */
const LONG_CHARACTERS = 16 * 1024;

/** Writes the events of a journal as an event stream. */
export class EventWriter {
  readonly #writer: ResponseWriter;
  /** The client has received all events that existed when the last chunk was read. */
  #isLive = false;

  constructor(response: ServerResponse, headers: ResponseHeaders, monitor: StallMonitor) {
    this.#writer = new ResponseWriter(response, { ...headers, ...SSE_HEADERS }, monitor);
    this.#writer.write(SSE_BEGIN);
  }

  get open(): boolean {
    return this.#writer.open;
  }

  /** Writes a frame with only an id, so that a client that reconnects before the first event misses none. */
  writePosition(seq: number): void {
    this.#writer.write(`id: ${seq}\n\n`);
  }

  /** Writes the events of a chunk, and `stream.caught_up` when the client was behind and no event follows yet. */
  writeChunk({ events, seq, caughtUp }: FollowResponse, sessionId: string, frames: SharedFrames): void {
    const end = caughtUp && !this.#isLive ? controlFrame('stream.caught_up', { seq }) : '';
    this.#isLive = caughtUp;
    if (lengthOf(events) < LONG_CHARACTERS) {
      const text = framesText(events) + end;
      if (text !== '') this.#writer.write(text);
      return;
    }
    this.#writer.write(frames.bytesOf(sessionId, events));
    if (end !== '') this.#writer.write(end);
  }

  /** Keeps proxies from closing an idle stream. */
  sendHeartbeat(): void {
    if (!this.#writer.isPending) this.#writer.write(SSE_HEARTBEAT);
  }

  flushed(): Promise<void> {
    return this.#writer.flushed();
  }

  /** Asks the client to reconnect, possibly to another replica, and ends the stream. */
  drain(): void {
    this.#writer.write(controlFrame('stream.draining', { reconnect_after_ms: RETRY_MS }));
    this.end();
  }

  end(): void {
    this.#writer.end();
  }
}

/** A frame without an id. `type` is also in the data, for clients that get only the data. */
const controlFrame = (type: string, members: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`;

const lengthOf = (events: readonly Event[]) => events.reduce((sum, { json }) => sum + json.length, 0);
