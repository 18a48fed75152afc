import { ApiError } from '../api/client.ts';
import type { ListPage } from '../api/pages.ts';
import type { Event } from '../gen/index.ts';
import { asJournalEvent, isPassing, type JournalEvent, type LastingEvent } from './event.ts';
import { follow } from './follow.ts';
import { readBack } from './pages.ts';
import { Passing } from './passing.ts';
import type { JournalView, Link } from './view.ts';

/** Nobody sees more often that something is new. */
const HIDDEN_MS = 500;

const EMPTY: JournalView = {
  events: [],
  hasEarlier: false,
  isLoadingEarlier: false,
  earlierError: undefined,
  drafts: [],
  progress: new Map(),
  lastSeq: 0,
  link: 'opening',
  error: undefined,
};

/**
 * The events of a session as somebody looks at it: the newest page first, older ones when they are asked for, and
 * whatever happens from then on. Changes are told once a frame.
 */
export class Journal {
  readonly #sessionId: string;
  readonly #leaving = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #onRefused: (error: ApiError) => void;
  readonly #passing = new Passing();
  #events: LastingEvent[] = [];
  #cursor: string | undefined;
  #view = EMPTY;
  #next: Partial<JournalView> = {};
  #isWaiting = false;

  /** `newest` reads the newest page. `onRefused` hears of every other read that the service refuses. */
  constructor(
    sessionId: string,
    newest: () => Promise<ListPage<Event>>,
    onRefused: (error: ApiError) => void,
  ) {
    this.#sessionId = sessionId;
    this.#onRefused = onRefused;
    void this.#open(newest);
  }

  get view(): JournalView {
    return this.#view;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  close(): void {
    this.#leaving.abort();
  }

  /** Reads the page before the oldest event that is there. */
  async loadEarlier(): Promise<void> {
    if (!this.#cursor || this.#view.isLoadingEarlier || this.#next.isLoadingEarlier) return;
    this.#tell({ isLoadingEarlier: true, earlierError: undefined });
    try {
      this.#take(await readBack(this.#sessionId, this.#cursor, this.#leaving.signal));
    } catch (error) {
      if (this.#leaving.signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      this.#tell({ earlierError: error });
      this.#onRefused(error);
    } finally {
      this.#tell({ isLoadingEarlier: false });
    }
  }

  async #open(newest: () => Promise<ListPage<Event>>): Promise<void> {
    const { signal } = this.#leaving;
    try {
      this.#take(await newest());
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      this.#tell({ link: 'ended', error });
      return;
    }
    // What has only been said in part begins behind the newest event that lasts.
    await follow(this.#sessionId, this.#events.at(-1)?.seq ?? 0, this.#follower, signal);
  }

  readonly #follower = {
    onEvent: (event: JournalEvent) => this.#add(event),
    onLink: (link: Link) => this.#tell({ link }),
    onRefused: (error: ApiError) => {
      this.#tell({ error });
      this.#onRefused(error);
    },
  };

  #take({ items, next }: ListPage<Event>): void {
    this.#cursor = next;
    const read = items.map(asJournalEvent).filter((event): event is LastingEvent => !isPassing(event));
    this.#events = [...read.reverse(), ...this.#events];
    this.#tell({ hasEarlier: next !== undefined, lastSeq: this.#events.at(-1)?.seq ?? 0 });
  }

  #add(event: JournalEvent): void {
    if (isPassing(event)) this.#passing.add(event);
    else {
      this.#events.push(event);
      this.#passing.settle(event);
    }
    this.#tell({ lastSeq: event.seq });
  }

  #tell(change: Partial<JournalView>): void {
    this.#next = { ...this.#next, ...change };
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    if (document.hidden) setTimeout(() => this.#show(), HIDDEN_MS);
    else requestAnimationFrame(() => this.#show());
  }

  #show(): void {
    this.#isWaiting = false;
    this.#view = {
      ...this.#view,
      ...this.#next,
      events: [...this.#events],
      drafts: this.#passing.drafts,
      progress: this.#passing.progress,
    };
    this.#next = {};
    for (const listener of this.#listeners) listener();
  }
}
