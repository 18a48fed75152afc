import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import { FollowedSessions } from './followed-sessions.ts';
import { FollowersBySession } from './followers-by-session.ts';
import type { EventStore } from './store/events.ts';
import type { JournalEvent } from './store/journal.ts';
import type { Tail, Tails } from './store/tails.ts';

/** The next events of a follower. */
export interface FollowChunk {
  events: JournalEvent[];
  /** All events up to this seq were sent or left out by the filter. */
  seq: number;
  caughtUp: boolean;
}

/** Interval of the query that finds waiting followers whose hint was lost. It covers all of them at once. */
const PROBE_MS = 1_000;

/** Length of the events of a chunk. A chunk has at least one event, even if it is longer. */
const CHUNK_CHARACTERS = 64 * 1024;
/**
 * Length of the events that were read but not sent yet, of all followers together. A follower that waits for its client
 * longer than others reads them again.
 */
const READ_AHEAD_CHARACTERS = 16 * 1024 * 1024;

interface FollowOptions {
  /** Only events of these types. Empty for all types. */
  types: readonly string[];
  /** The follower does not count: runners report at the pace of a session without followers. */
  isPassive: boolean;
}

interface FollowersContext {
  tails: Tails;
  heads: EventStore['heads'];
  bus: Bus;
  clock: Clock;
  /** Called when a probe has failed. */
  warn(error: unknown): void;
}

export type Followers = ReturnType<typeof createFollowers>;

/**
 * Follows journals. Each follower subscribes first, reads the table after its seq, waits for a hint, and reads again.
 * Events come only from the table; a hint only causes a read. Followers at the same seq share a read, and one probe a second
 * covers all waiting followers of this process.
 */
export function createFollowers({ tails, heads, bus, clock, warn }: FollowersContext) {
  const followers = new FollowersBySession<JournalFollower>();
  const followedSessions = new FollowedSessions({ bus, clock, here: followers });
  const readAhead = new ReadAhead();
  /** Reads under way, by session and start seq. */
  const reads = new Map<string, Map<number, Promise<Tail>>>();
  const unsubscribe = bus.subscribe('sessions.appended', (sessionId) => {
    // A read that began before the hint may miss the new events, so later followers start another.
    reads.delete(sessionId);
    for (const follower of followers.of(sessionId)) follower.wake();
  });
  let cancelProbe = clock.after(PROBE_MS, probe);
  let closed = false;

  function probe(): void {
    wakeBehind()
      .catch(warn)
      .finally(() => {
        if (!closed) cancelProbe = clock.after(PROBE_MS, probe);
      });
  }

  async function wakeBehind(): Promise<void> {
    const { sessionIds } = followers;
    if (sessionIds.length === 0) return;
    for (const { sessionId, lastSeq } of await heads(sessionIds)) {
      for (const follower of followers.of(sessionId)) if (follower.seq < lastSeq) follower.wake();
    }
  }

  function read(sessionId: string, afterSeq: number): Promise<Tail> {
    const ofSession = reads.get(sessionId) ?? new Map<number, Promise<Tail>>();
    const shared = ofSession.get(afterSeq);
    if (shared !== undefined) return shared;
    const reading = tails(sessionId, afterSeq).finally(() => {
      ofSession.delete(afterSeq);
      if (ofSession.size === 0 && reads.get(sessionId) === ofSession) reads.delete(sessionId);
    });
    reads.set(sessionId, ofSession.set(afterSeq, reading));
    return reading;
  }

  const registry: FollowerRegistry = {
    read,
    readAhead,
    leave(follower) {
      readAhead.take(follower);
      followers.remove(follower);
    },
  };

  return {
    /** The first chunk holds the start seq and no events. Ends when the session is deleted or the signal aborts. */
    follow(
      sessionId: string,
      afterSeq: number,
      options: FollowOptions,
      signal: AbortSignal,
    ): AsyncIterableIterator<FollowChunk> {
      const follower = new JournalFollower(registry, sessionId, afterSeq, options, signal);
      const wasFollowed = followers.has(sessionId);
      followers.add(follower);
      if (!wasFollowed && !options.isPassive) followedSessions.announce(sessionId);
      return follower;
    },

    /** Whether the session has a follower that is not passive, in this process or in another one. */
    isFollowed: (sessionId: string): boolean => followedSessions.has(sessionId),
    /** The number of followers in this process. */
    count: (): number => followers.count,

    close(): void {
      closed = true;
      cancelProbe();
      unsubscribe();
      followedSessions.close();
      for (const follower of followers) follower.wake();
    },
  };
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** Shared by the followers of a process. */
interface FollowerRegistry {
  read(sessionId: string, afterSeq: number): Promise<Tail>;
  readAhead: ReadAhead;
  leave(follower: JournalFollower): void;
}

/**
 * A follower of one journal. This is not a generator, because a waiting generator would keep its last value in memory.
 * A wake-up during a read is not lost.
 */
class JournalFollower implements AsyncIterableIterator<FollowChunk> {
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
  #resume: (() => void) | undefined;

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
    this.#resume?.();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<FollowChunk>> {
    if (!this.#started) {
      this.#started = true;
      return { done: false, value: { events: [], seq: this.seq, caughtUp: false } };
    }
    try {
      while (!this.#hasEnded) {
        if (this.#caughtUp) await this.#waitForWake();
        if (this.#hasEnded) break;
        const value = this.#nextChunk(await this.#read());
        if (value) return { done: false, value };
      }
    } catch (error) {
      this.#close();
      throw error;
    }
    return this.#close();
  }

  async return(): Promise<IteratorResult<FollowChunk>> {
    return this.#close();
  }

  get #hasEnded(): boolean {
    return this.#ended || this.#signal.aborted;
  }

  #waitForWake(): Promise<void> {
    if (this.#hinted || this.#hasEnded) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
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

/** The events that were read for followers and not sent yet. The oldest are dropped when they exceed the limit together. */
class ReadAhead {
  readonly #rests = new Map<JournalFollower, { tail: Tail; characters: number }>();
  #characters = 0;

  keep(follower: JournalFollower, tail: Tail): void {
    const characters = tail.events.reduce((sum, { json }) => sum + json.length, 0);
    this.#rests.set(follower, { tail, characters });
    this.#characters += characters;
    for (const oldest of this.#rests.keys()) {
      if (this.#characters <= READ_AHEAD_CHARACTERS) break;
      this.take(oldest);
    }
  }

  /** Returns and removes the events of a follower. */
  take(follower: JournalFollower): Tail | undefined {
    const rest = this.#rests.get(follower);
    if (!rest) return undefined;
    this.#rests.delete(follower);
    this.#characters -= rest.characters;
    return rest.tail;
  }
}
