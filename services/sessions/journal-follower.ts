import { type ItemReceiver, promiseNext, type ReceivableIterator } from '../../lib/item-receiver.ts';
import type { ReadAhead } from './read-ahead.ts';
import type { JournalEvent } from './store/journal.ts';
import type { Tail } from './store/tails.ts';

/** The next events of a follower. */
export interface FollowChunk {
  events: JournalEvent[];
  /** All events up to this seq were sent or left out by the filter. */
  seq: number;
  caughtUp: boolean;
}

/** Length of the events of a chunk. A chunk has at least one event, even if it is longer. */
const CHUNK_CHARACTERS = 64 * 1024;

export interface FollowOptions {
  /** Only events of these types. Empty for all types. */
  types: readonly string[];
  /** The follower does not count: runners report at the pace of a session without followers. */
  isPassive: boolean;
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Shared by the followers of a process. */
export interface FollowerRegistry {
  read(sessionId: string, afterSeq: number): Promise<Tail>;
  readAhead: ReadAhead<JournalFollower>;
  leave(follower: JournalFollower): void;
}

/**
 * A follower of one journal. This is not a generator, because a waiting generator would keep its last value in memory. A
 * waiting follower holds its receiver and no promise. A wake-up during a read is not lost.
 */
export class JournalFollower implements ReceivableIterator<FollowChunk> {
  readonly sessionId: string;
  readonly isPassive: boolean;
  seq: number;
  readonly #registry: FollowerRegistry;
  readonly #types: Set<string> | undefined;
  readonly #signal: AbortSignal;
  #started = false;
  #sentCaughtUp = false;
  #caughtUp = false;
  #ended = false;
  #hinted = false;
  #isReading = false;
  /** Set while a chunk is requested. */
  #receiver: ItemReceiver<FollowChunk> | undefined;

  constructor(
    registry: FollowerRegistry,
    sessionId: string,
    afterSeq: number,
    { types, isPassive }: FollowOptions,
    signal: AbortSignal,
  ) {
    this.#registry = registry;
    this.sessionId = sessionId;
    this.isPassive = isPassive;
    this.seq = afterSeq;
    this.#types = types.length === 0 ? undefined : new Set(types);
    this.#signal = signal;
    signal.addEventListener('abort', this);
  }

  /** Called when the signal aborts. */
  handleEvent(): void {
    this.wake();
  }

  wake(): void {
    this.#hinted = true;
    this.#readOn();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<FollowChunk>> {
    return promiseNext(this);
  }

  nextTo(receiver: ItemReceiver<FollowChunk>): void {
    if (!this.#started) {
      this.#started = true;
      receiver.receive({ done: false, value: { events: [], seq: this.seq, caughtUp: false } });
      return;
    }
    this.#receiver = receiver;
    this.#readOn();
  }

  async return(): Promise<IteratorResult<FollowChunk>> {
    return this.#close();
  }

  get #hasEnded(): boolean {
    return this.#ended || this.#signal.aborted;
  }

  get #mustWait(): boolean {
    return this.#caughtUp && !this.#hinted && !this.#hasEnded;
  }

  #readOn(): void {
    if (this.#receiver && !this.#isReading && !this.#mustWait) void this.#readNext();
  }

  /** Reads until there is a chunk for the receiver, or nothing more to read. Never rejects. */
  async #readNext(): Promise<void> {
    let next: IteratorResult<FollowChunk> | undefined;
    this.#isReading = true;
    try {
      while (!next && !this.#mustWait) next = this.#hasEnded ? this.#close() : await this.#readChunk();
      this.#isReading = false;
      if (next) this.#takeReceiver()?.receive(next);
    } catch (error) {
      this.#close();
      this.#isReading = false;
      this.#takeReceiver()?.fail(error);
    }
  }

  #takeReceiver(): ItemReceiver<FollowChunk> | undefined {
    const receiver = this.#receiver;
    this.#receiver = undefined;
    return receiver;
  }

  /** Returns undefined when there is nothing to report. */
  async #readChunk(): Promise<IteratorResult<FollowChunk> | undefined> {
    const value = this.#nextChunk(await this.#read());
    return value && { done: false, value };
  }

  /** A hint that comes after the start of the read causes another read. */
  async #read(): Promise<Tail> {
    const rest = this.#registry.readAhead.take(this);
    if (rest) return this.#cut(rest);
    this.#hinted = false;
    return this.#cut(await this.#registry.read(this.sessionId, this.seq));
  }

  /** Returns the beginning of a tail for one chunk. The rest is for the next one. */
  #cut(tail: Tail): Tail {
    const length = chunkLength(tail.events);
    if (length === tail.events.length) return tail;
    const rest = { events: tail.events.slice(length), complete: tail.complete };
    // A follower that was closed during the read takes no further chunk.
    if (!this.#hasEnded) this.#registry.readAhead.keep(this, rest);
    return { events: tail.events.slice(0, length), complete: false };
  }

  #nextChunk({ events, complete }: Tail): FollowChunk | undefined {
    const last = events.at(-1);
    if (last) this.seq = last.seq;
    if (last?.type === 'session.deleted') this.#ended = true;
    this.#caughtUp = complete;
    if (!last && this.#sentCaughtUp) return undefined;
    this.#sentCaughtUp = complete;
    const types = this.#types;
    const selected = types ? events.filter((event) => types.has(event.type)) : events;
    return { events: selected, seq: this.seq, caughtUp: complete && !this.#ended };
  }

  #close(): IteratorResult<FollowChunk> {
    this.#ended = true;
    this.#signal.removeEventListener('abort', this);
    this.#registry.leave(this);
    this.wake();
    return DONE;
  }
}

/** The number of events that one chunk holds. */
function chunkLength(events: readonly JournalEvent[]): number {
  let characters = 0;
  const end = events.findIndex(({ json }, index) => {
    characters += json.length;
    return index > 0 && characters > CHUNK_CHARACTERS;
  });
  return end < 0 ? events.length : end;
}
