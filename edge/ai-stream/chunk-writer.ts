import type { ServerResponse } from 'node:http';
import { type ResponseHeaders, ResponseWriter } from '../streaming/response-writer.ts';
import { RETRY_MS, SSE_BEGIN, SSE_HEADERS, SSE_HEARTBEAT } from '../streaming/sse.ts';
import type { StallMonitor } from '../streaming/stall-monitor.ts';
import type { UiChunk } from './chunks.ts';

/** The chunks of an event. The last chunk carries the seq of the event. Without a seq, the chunks belong to no event. */
export interface RenderedEvent {
  chunks: readonly UiChunk[];
  seq?: number;
}

export const AI_STREAM_HEADERS = { ...SSE_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' };

/** Writes a UI Message Stream. */
export class ChunkWriter {
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
    this.#writer = new ResponseWriter(response, { ...headers, ...AI_STREAM_HEADERS }, monitor);
    this.#writer.write(SSE_BEGIN);
  }

  get open(): boolean {
    return this.#writer.open;
  }

  write(events: readonly RenderedEvent[]): void {
    const frames = events.flatMap(({ chunks, seq }) =>
      chunks.map((chunk, i) => frame(chunk, i === chunks.length - 1 ? seq : undefined)),
    );
    if (frames.length > 0) this.#writer.write(frames.join(''));
  }

  /** Keeps proxies from closing an idle stream. */
  sendHeartbeat(): void {
    if (!this.#writer.isPending) this.#writer.write(SSE_HEARTBEAT);
  }

  flushed(): Promise<void> {
    return this.#writer.flushed();
  }

  /**
   * Asks the client to reconnect, possibly to another replica. Clients treat a stream with a regular end as a complete
   * response, so the connection is closed without a regular end, which clients treat as a lost connection.
   */
  drain(): void {
    this.#beforeEnd();
    const data = { reconnect_after_ms: RETRY_MS };
    this.#writer.write(frame({ type: 'data-draining', transient: true, data }));
    this.#writer.abort();
  }

  end(): void {
    this.#beforeEnd();
    this.#writer.write('data: [DONE]\n\n');
    this.#writer.end();
  }
}

function frame(chunk: UiChunk, seq?: number): string {
  const id = seq === undefined ? '' : `id: ${seq}\n`;
  return `${id}data: ${JSON.stringify(chunk)}\n\n`;
}
