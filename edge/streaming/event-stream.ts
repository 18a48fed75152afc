import { Refusal } from '../../lib/errors.ts';
import { type ItemReceiver, requestNext } from '../../lib/item-receiver.ts';
import type { FollowResponse } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { EventWriter } from './event-writer.ts';
import type { LiveStreams } from './live-streams.ts';
import type { SharedFrames } from './shared-frames.ts';

interface EventStreamContext {
  sessionId: string;
  writer: EventWriter;
  frames: SharedFrames;
  liveStreams: LiveStreams;
}

/**
 * Copies a journal to its client. It receives the chunks itself, because an async function would retain more while the stream
 * is idle, and its last chunk.
 */
export class EventStream implements ItemReceiver<FollowResponse> {
  readonly #chunks: AsyncIterator<FollowResponse>;
  readonly #sessionId: string;
  readonly #writer: EventWriter;
  readonly #frames: SharedFrames;
  readonly #liveStreams: LiveStreams;

  constructor(
    chunks: AsyncIterator<FollowResponse>,
    { sessionId, writer, frames, liveStreams }: EventStreamContext,
  ) {
    this.#chunks = chunks;
    this.#sessionId = sessionId;
    this.#writer = writer;
    this.#frames = frames;
    this.#liveStreams = liveStreams;
  }

  start(): void {
    this.#liveStreams.add(this.#writer);
    this.#requestNext();
  }

  /** Called with the next chunk. */
  receive(next: IteratorResult<FollowResponse>): void {
    void this.#write(next);
  }

  /** Called when the journal cannot be followed any longer. */
  fail(error: unknown): void {
    // The status has been sent, so a failure can only tell the client to reconnect.
    if (error instanceof Refusal && error.code === 'CANCELLED') this.#writer.end();
    else this.#writer.drain();
    this.#liveStreams.delete(this.#writer);
  }

  /** Never rejects. */
  async #write({ done, value }: IteratorResult<FollowResponse>): Promise<void> {
    try {
      if (done) return await this.#end();
      this.#writer.writeChunk(value, this.#sessionId, this.#frames);
      await this.#writer.flushed();
    } catch (error) {
      return this.fail(error);
    }
    this.#requestNext();
  }

  #requestNext(): void {
    if (this.#writer.open) requestNext(this.#chunks, this);
    else this.#end().catch((error) => this.fail(error));
  }

  async #end(): Promise<void> {
    this.#writer.end();
    await this.#chunks.return?.();
    this.#liveStreams.delete(this.#writer);
  }
}
