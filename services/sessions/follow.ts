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
  const watched = new Map<string, Set<Watch>>();
  /** Reads under way, by session and place. */
  const reads = new Map<string, Map<number, Promise<Tail>>>();
  const unsubscribe = bus.subscribe('sessions.appended', (sessionId) => {
    // A read that began before the hint may miss what it is about: whoever comes now begins another.
    reads.delete(sessionId);
    for (const watch of watched.get(sessionId) ?? []) watch.wake();
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
      for (const watch of watched.get(sessionId) ?? []) if (watch.seq < lastSeq) watch.wake();
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

  function watch(sessionId: string, seq: number, signal: AbortSignal): Watch {
    const one = new Watch(seq, signal);
    const all = watched.get(sessionId) ?? new Set();
    watched.set(sessionId, all.add(one));
    one.onClose = () => {
      all.delete(one);
      if (all.size === 0 && watched.get(sessionId) === all) watched.delete(sessionId);
    };
    return one;
  }

  return {
    /** Begins with where it begins; ends when the session is deleted or the signal aborts. */
    follow(
      sessionId: string,
      afterSeq: number,
      types: readonly string[],
      signal: AbortSignal,
    ): AsyncIterableIterator<Chunk> {
      return new Following(watch(sessionId, afterSeq, signal), types, (seq) => read(sessionId, seq));
    },

    close(): void {
      closed = true;
      cancelProbe();
      unsubscribe();
      for (const all of watched.values()) for (const watch of all) watch.wake();
    },
  };
}

const DONE: IteratorReturnResult<undefined> = { done: true, value: undefined };

/** What one follower is given. Not a generator, which would keep what it gave last for as long as it waits. */
class Following implements AsyncIterableIterator<Chunk> {
  readonly #place: Watch;
  readonly #wanted: Set<string> | undefined;
  readonly #read: (afterSeq: number) => Promise<Tail>;
  #begun = false;
  #told = false;
  #caughtUp = false;
  #over = false;

  constructor(place: Watch, types: readonly string[], read: (afterSeq: number) => Promise<Tail>) {
    this.#place = place;
    this.#wanted = types.length === 0 ? undefined : new Set(types);
    this.#read = read;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Chunk>> {
    if (!this.#begun) {
      this.#begun = true;
      return { done: false, value: { events: [], seq: this.#place.seq, caughtUp: false } };
    }
    try {
      while (!this.#over && !this.#place.left) {
        if (this.#caughtUp) await this.#place.woken();
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

  #look(): Promise<Tail> {
    this.#place.rest();
    return this.#read(this.#place.seq);
  }

  #chunk({ events, complete }: Tail): Chunk | undefined {
    const last = events.at(-1);
    if (last) this.#place.seq = last.seq;
    this.#over = last?.type === 'session.deleted';
    this.#caughtUp = complete;
    if (!last && this.#told) return undefined;
    this.#told = complete;
    const wanted = this.#wanted;
    const shown = wanted ? events.filter((event) => wanted.has(event.type)) : events;
    return { events: shown, seq: this.#place.seq, caughtUp: complete && !this.#over };
  }

  #close(): IteratorResult<Chunk> {
    this.#over = true;
    this.#place.wake();
    this.#place[Symbol.dispose]();
    return DONE;
  }
}

/** One follower's place in a journal. A wake-up that comes while it reads is not lost. */
class Watch {
  seq: number;
  onClose: () => void = () => {};
  readonly #signal: AbortSignal;
  #hinted = false;
  #resume: () => void = () => {};

  constructor(seq: number, signal: AbortSignal) {
    this.seq = seq;
    this.#signal = signal;
    signal.addEventListener('abort', this.wake, { once: true });
  }

  readonly wake = (): void => {
    this.#hinted = true;
    this.#resume();
  };

  /** From here on a hint counts. */
  rest(): void {
    this.#hinted = false;
  }

  get left(): boolean {
    return this.#signal.aborted;
  }

  woken(): Promise<void> {
    if (this.#hinted || this.#signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      this.#resume = resolve;
    });
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.wake);
    this.onClose();
  }
}
