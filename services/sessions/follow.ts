import type { Bus } from '../../lib/bus/bus.ts';
import type { Clock } from '../../lib/clock.ts';
import type { EventStore } from './store/events.ts';
import type { JournalEvent } from './store/journal.ts';
import type { Tail, Tails } from './store/tails.ts';

/** What a follower gets next. */
export interface Chunk {
  events: JournalEvent[];
  /** Everything up to here has been sent or left out by the filter. */
  seq: number;
  caughtUp: boolean;
}

/** A hint may be lost; followers that wait are looked after this often, all in one query. */
const PROBE_MS = 1_000;

export interface FollowerContext {
  tails: Tails;
  heads: EventStore['heads'];
  bus: Bus;
  clock: Clock;
  /** Told of a probe that fails. */
  warn(error: unknown): void;
}

export type Follower = ReturnType<typeof createFollower>;

/**
 * Follows journals. Each follower subscribes first, reads the table after its place, waits, and reads
 * again: the table is the truth and the hint only says "look". Followers at the same place share one
 * read, and one probe a second covers everybody who waits in this process.
 */
export function createFollower({ tails, heads, bus, clock, warn }: FollowerContext) {
  const watched = new Map<string, Set<Following>>();
  /** Reads under way, by session and place. */
  const reads = new Map<string, Map<number, Promise<Tail>>>();
  const unsubscribe = bus.subscribe('sessions.appended', (sessionId) => {
    // A read that began before the hint may miss what it is about: whoever comes now begins another.
    reads.delete(sessionId);
    for (const one of watched.get(sessionId) ?? []) one.wake();
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
    if (watched.size === 0) return;
    for (const { sessionId, lastSeq } of await heads([...watched.keys()])) {
      for (const one of watched.get(sessionId) ?? []) if (one.seq < lastSeq) one.wake();
    }
  }

  function read(sessionId: string, afterSeq: number): Promise<Tail> {
    const ofSession = reads.get(sessionId) ?? new Map<number, Promise<Tail>>();
    const known = ofSession.get(afterSeq);
    if (known !== undefined) return known;
    const reading = tails(sessionId, afterSeq).finally(() => {
      ofSession.delete(afterSeq);
      if (ofSession.size === 0 && reads.get(sessionId) === ofSession) reads.delete(sessionId);
    });
    reads.set(sessionId, ofSession.set(afterSeq, reading));
    return reading;
  }

  const ground: Ground = {
    read,
    leave(one) {
      const all = watched.get(one.sessionId);
      if (all?.delete(one) && all.size === 0) watched.delete(one.sessionId);
    },
  };

  return {
    /** Begins with where it begins; ends when the session is deleted or the signal aborts. */
    follow(
      sessionId: string,
      afterSeq: number,
      types: readonly string[],
      signal: AbortSignal,
    ): AsyncIterableIterator<Chunk> {
      const one = new Following(ground, sessionId, afterSeq, types, signal);
      watched.set(sessionId, (watched.get(sessionId) ?? new Set()).add(one));
      return one;
    },

    close(): void {
      closed = true;
      cancelProbe();
      unsubscribe();
      for (const all of watched.values()) for (const one of all) one.wake();
    },
  };
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** What the followers of a process share. */
interface Ground {
  read(sessionId: string, afterSeq: number): Promise<Tail>;
  leave(one: Following): void;
}

/**
 * One follower: its place in a journal, and what it is given. Not a generator, which would keep what it gave last for
 * as long as it waits. A wake-up that comes while it reads is not lost.
 */
class Following implements AsyncIterableIterator<Chunk> {
  readonly sessionId: string;
  seq: number;
  readonly #ground: Ground;
  readonly #wanted: Set<string> | undefined;
  readonly #signal: AbortSignal;
  #begun = false;
  #told = false;
  #caughtUp = false;
  #over = false;
  #hinted = false;
  #resume: (() => void) | undefined;

  constructor(
    ground: Ground,
    sessionId: string,
    afterSeq: number,
    types: readonly string[],
    signal: AbortSignal,
  ) {
    this.#ground = ground;
    this.sessionId = sessionId;
    this.seq = afterSeq;
    this.#wanted = types.length === 0 ? undefined : new Set(types);
    this.#signal = signal;
    signal.addEventListener('abort', this);
  }

  /** The signal aborts. */
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

  async next(): Promise<IteratorResult<Chunk>> {
    if (!this.#begun) {
      this.#begun = true;
      return { done: false, value: { events: [], seq: this.seq, caughtUp: false } };
    }
    try {
      while (!this.#isOver) {
        if (this.#caughtUp) await this.#woken();
        if (this.#isOver) break;
        const value = this.#chunk(await this.#look());
        if (value) return { done: false, value };
      }
    } catch (error) {
      this.#close();
      throw error;
    }
    return this.#close();
  }

  async return(): Promise<IteratorResult<Chunk>> {
    return this.#close();
  }

  get #isOver(): boolean {
    return this.#over || this.#signal.aborted;
  }

  #woken(): Promise<void> {
    if (this.#hinted || this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  /** From here on a hint counts. */
  #look(): Promise<Tail> {
    this.#hinted = false;
    return this.#ground.read(this.sessionId, this.seq);
  }

  #chunk({ events, complete }: Tail): Chunk | undefined {
    const last = events.at(-1);
    if (last) this.seq = last.seq;
    if (last?.type === 'session.deleted') this.#over = true;
    this.#caughtUp = complete;
    if (!last && this.#told) return undefined;
    this.#told = complete;
    const wanted = this.#wanted;
    const shown = wanted ? events.filter((event) => wanted.has(event.type)) : events;
    return { events: shown, seq: this.seq, caughtUp: complete && !this.#over };
  }

  #close(): IteratorResult<Chunk> {
    this.#over = true;
    this.#signal.removeEventListener('abort', this);
    this.#ground.leave(this);
    this.wake();
    return DONE;
  }
}
