import type { ServerResponse } from 'node:http';
import { Outflow, type ResponseHeaders } from '../streaming/outflow.ts';
import { RETRY_MS, SSE_BEGIN, SSE_HEADERS, SSE_HEARTBEAT } from '../streaming/sse.ts';
import type { Chunk } from './chunks.ts';

/** What an event has become; its seq stands on the last chunk. Without a seq: chunks that are no event's. */
export interface Piece {
  chunks: readonly Chunk[];
  seq?: number;
}

export const AI_STREAM_HEADERS = { ...SSE_HEADERS, 'x-vercel-ai-ui-message-stream': 'v1' };

/** Writes a UI Message Stream. */
export class ChunkWriter {
  readonly #outflow: Outflow;

  constructor(response: ServerResponse, headers: ResponseHeaders, stallMs: number) {
    this.#outflow = new Outflow(response, { ...headers, ...AI_STREAM_HEADERS }, stallMs, this);
    this.#outflow.write(SSE_BEGIN);
  }

  get open(): boolean {
    return this.#outflow.open;
  }

  write(pieces: readonly Piece[]): void {
    const frames = pieces.flatMap(({ chunks, seq }) =>
      chunks.map((chunk, i) => frame(chunk, i === chunks.length - 1 ? seq : undefined)),
    );
    if (frames.length > 0) this.#outflow.write(frames.join(''));
  }

  /** Keeps the stream from being taken for dead. */
  beat(): void {
    this.#outflow.write(SSE_HEARTBEAT);
  }

  flushed(): Promise<void> {
    return this.#outflow.flushed();
  }

  /**
   * Sends the client away, to come back here or elsewhere. A stream that just ended would be taken for a whole
   * answer: it is cut, which clients know for a lost connection.
   */
  drain(): void {
    const data = { reconnect_after_ms: RETRY_MS };
    this.#outflow.write(frame({ type: 'data-draining', transient: true, data }));
    this.#outflow.cut();
  }

  end(): void {
    this.#outflow.write('data: [DONE]\n\n');
    this.#outflow.end();
  }
}

function frame(chunk: Chunk, seq?: number): string {
  const id = seq === undefined ? '' : `id: ${seq}\n`;
  return `${id}data: ${JSON.stringify(chunk)}\n\n`;
}
