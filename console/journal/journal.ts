import { ApiError } from '../api/client.ts';
import type { ListPage } from '../api/pages.ts';
import type { Event } from '../gen/index.ts';
import { Conversation } from './conversation.ts';
import { type DurableEvent, FILE_TYPES, isFileType, isTransient, type JournalEvent } from './event.ts';
import {
  durableEvents,
  type EventRange,
  joined,
  mergedBySeq,
  readEvent,
  readPageAfter,
  readPageBefore,
  readRange,
} from './event-pages.ts';
import { follow } from './follow.ts';
import { TransientState } from './transient.ts';
import { EMPTY_VIEW, type JournalView, type StreamStatus } from './view.ts';

/** Update interval of a hidden page, which gets no animation frames. */
const HIDDEN_UPDATE_MS = 500;

/** State of loading at one end of a section. */
interface Loading {
  isActive: boolean;
  error: ApiError | undefined;
}

const IDLE: Loading = { isActive: false, error: undefined };

/**
 * The events of an open session: the newest page first, older pages on request, the events around a linked event, and new
 * events as they happen. Listeners are notified at most once per animation frame.
 */
export class Journal {
  readonly #sessionId: string;
  readonly #abort = new AbortController();
  readonly #listeners = new Set<() => void>();
  readonly #onFailed: (error: ApiError) => void;
  readonly #transient = new TransientState();
  /** Settles when the newest page has arrived or failed. */
  readonly #opened: Promise<void>;
  #newest: EventRange = { events: [], from: 1, to: Number.POSITIVE_INFINITY };
  /** The seqs of the newest page, until its file events have loaded. */
  #withoutFiles: Pick<EventRange, 'from' | 'to'> | undefined;
  /** Events around the linked event, until they meet the newest ones. */
  #excerpt: EventRange | undefined;
  /** Aborts the requests for the excerpt. */
  #excerptAbort = new AbortController();
  #linkedSeq: number | undefined;
  #loading = { earlier: IDLE, later: IDLE };
  #view = EMPTY_VIEW;
  /** A copy of the newest events for the view, which is the same array until they change. */
  #copied: { events: DurableEvent[]; copy: readonly DurableEvent[] } = { events: [], copy: [] };
  readonly #conversation = new Conversation();
  readonly #excerptConversation = new Conversation();
  #pending: Partial<JournalView> = {};
  #isScheduled = false;

  /** `newest` reads the newest page. `onFailed` receives the error of every other failed read. */
  constructor(
    sessionId: string,
    newest: () => Promise<ListPage<Event>>,
    onFailed: (error: ApiError) => void,
  ) {
    this.#sessionId = sessionId;
    this.#onFailed = onFailed;
    this.#opened = this.#open(newest);
  }

  get view(): JournalView {
    return this.#view;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  };

  close(): void {
    this.#abort.abort();
    this.#excerptAbort.abort();
  }

  /** Loads the page before the oldest shown event. */
  async loadEarlier(): Promise<void> {
    const excerpt = this.#excerpt;
    const { from, events } = excerpt ?? this.#newest;
    if (this.#loading.earlier.isActive) return;
    if (!excerpt && this.#withoutFiles) return this.#complete();
    if (from <= 1) return;
    await this.#load('earlier', async (signal) => {
      const page = await readPageBefore(this.#sessionId, from, events, signal);
      if (excerpt && this.#excerpt) this.#showExcerpt(joined(page, this.#excerpt));
      else this.#extendNewest(page);
    });
  }

  /** Loads the page after the newest shown event, while events around a linked event are shown. */
  async loadLater(): Promise<void> {
    const excerpt = this.#excerpt;
    if (!excerpt || this.#loading.later.isActive) return;
    await this.#load('later', async (signal) => {
      const page = await readPageAfter(this.#sessionId, excerpt.to, signal);
      if (this.#excerpt) this.#showExcerpt(joined(this.#excerpt, page));
    });
  }

  /** Loads and shows the events around the event with this seq. Without one, shows the newest events. */
  async showEvent(seq: number | undefined): Promise<void> {
    if (this.#linkedSeq === seq) return;
    this.#linkedSeq = seq;
    this.#excerptAbort.abort();
    this.#excerptAbort = new AbortController();
    const { signal } = this.#excerptAbort;
    this.#loading = { earlier: IDLE, later: IDLE };
    if (seq === undefined) {
      this.#excerpt = undefined;
      this.#update({ linked: undefined });
      return;
    }
    this.#update({ linked: { seq, state: 'loading' } });
    await this.#opened;
    if (signal.aborted) return;
    try {
      const [event] = await Promise.all([this.#eventAt(seq, signal), this.#loadAround(seq, signal)]);
      if (signal.aborted) return;
      // An event that did not exist may have arrived since.
      const found = event ?? this.#newestEvent(seq);
      this.#update({ linked: found ? { seq, state: 'loaded', event: found } : { seq, state: 'missing' } });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      this.#update({ linked: { seq, state: 'failed', error } });
      this.#onFailed(error);
    }
  }

  async #eventAt(seq: number, signal: AbortSignal): Promise<JournalEvent | undefined> {
    return this.#newestEvent(seq) ?? readEvent(this.#sessionId, seq, signal);
  }

  #newestEvent(seq: number): DurableEvent | undefined {
    return this.#newest.events.find((event) => event.seq === seq);
  }

  /** Loads the events around a seq, unless they are shown already. */
  async #loadAround(seq: number, signal: AbortSignal): Promise<void> {
    const shown = this.#excerpt ?? this.#newest;
    if (seq >= this.#newest.from) {
      this.#excerpt = undefined;
      return;
    }
    if (seq >= shown.from && seq <= shown.to) return;
    const after = await readPageAfter(this.#sessionId, seq - 1, signal);
    const before = await readPageBefore(this.#sessionId, seq, after.events, signal);
    if (signal.aborted) return;
    this.#showExcerpt(joined(before, after));
  }

  async #load(end: 'earlier' | 'later', work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const { signal } = this.#excerpt ? this.#excerptAbort : this.#abort;
    const set = (loading: Loading) => {
      this.#loading = { ...this.#loading, [end]: loading };
      this.#update({});
    };
    set({ isActive: true, error: undefined });
    try {
      await work(signal);
      if (!signal.aborted) set(IDLE);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      set({ isActive: false, error });
      this.#onFailed(error);
    }
  }

  async #open(newest: () => Promise<ListPage<Event>>): Promise<void> {
    const { signal } = this.#abort;
    try {
      const { items, next } = await newest();
      const events = durableEvents(items).reverse();
      const from = next === undefined ? 1 : (events[0]?.seq ?? 1);
      this.#newest = { ...this.#newest, events, from };
      this.#update({ lastSeq: events.at(-1)?.seq ?? 0 });
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ApiError)) throw error;
      this.#update({ streamStatus: 'ended', error });
      return;
    }
    const { events, from } = this.#newest;
    const last = events.at(-1)?.seq ?? 0;
    if (last > from) this.#withoutFiles = { from, to: last };
    // The newest page has no file events. Those behind it arrive through the stream, with the transient events of an
    // unfinished message or tool call.
    void follow(this.#sessionId, last, this.#listener, signal);
    void this.#complete();
  }

  /** Adds what the newest page lacks: the beginning of its first turn, and file events. */
  async #complete(): Promise<void> {
    await this.#load('earlier', async (signal) => {
      const { from, events } = this.#newest;
      const range = this.#withoutFiles;
      const [files, page] = await Promise.all([
        range ? readRange(this.#sessionId, range.from, range.to, signal, FILE_TYPES) : [],
        from > 1 ? readPageBefore(this.#sessionId, from, events, signal, 0) : undefined,
      ]);
      this.#withoutFiles = undefined;
      if (files.length > 0) this.#newest.events = mergedBySeq(this.#newest.events, files);
      if (page) this.#extendNewest(page);
    });
  }

  #extendNewest(page: EventRange): void {
    this.#newest = joined(page, this.#newest);
    if (this.#excerpt) this.#showExcerpt(this.#excerpt);
  }

  /** Shows an excerpt, or extends the newest events by it when no event lies between. */
  #showExcerpt(excerpt: EventRange): void {
    if (excerpt.to < this.#newest.from - 1) {
      this.#excerpt = excerpt;
      return;
    }
    this.#excerpt = undefined;
    if (excerpt.from < this.#newest.from) this.#newest = joined(excerpt, this.#newest);
  }

  readonly #listener = {
    onEvent: (event: JournalEvent) => this.#append(event),
    onStatus: (streamStatus: StreamStatus) => this.#update({ streamStatus }),
    onFailed: (error: ApiError) => {
      this.#update({ error });
      this.#onFailed(error);
    },
  };

  #append(event: JournalEvent): void {
    if (isTransient(event)) this.#transient.add(event);
    else {
      this.#newest.events.push(event);
      this.#transient.dropSuperseded(event);
    }
    const { linked } = { ...this.#view, ...this.#pending };
    const isLinked = linked?.state === 'missing' && linked.seq === event.seq;
    this.#update({
      lastSeq: event.seq,
      ...(isFileType(event.type) ? { lastFileSeq: event.seq } : {}),
      ...(isLinked ? { linked: { seq: event.seq, state: 'loaded', event } } : {}),
    });
  }

  #update(change: Partial<JournalView>): void {
    this.#pending = { ...this.#pending, ...change };
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    if (document.hidden) setTimeout(() => this.#publish(), HIDDEN_UPDATE_MS);
    else requestAnimationFrame(() => this.#publish());
  }

  #publish(): void {
    this.#isScheduled = false;
    const excerpt = this.#excerpt;
    const { earlier, later } = this.#loading;
    const loadingEarlier = { isLoadingEarlier: earlier.isActive, earlierError: earlier.error };
    const events = this.#copiedEvents();
    const { drafts, progress } = this.#transient;
    this.#view = {
      ...this.#view,
      ...this.#pending,
      events,
      chat: this.#conversation.read({ events, drafts, progress }),
      hasEarlier: this.#newest.from > 1 || (this.#withoutFiles !== undefined && earlier.error !== undefined),
      ...loadingEarlier,
      // An excerpt ends before the running calls.
      excerpt: excerpt && {
        events: excerpt.events,
        chat: this.#excerptConversation.read({ events: excerpt.events, drafts: [], progress: new Map() }),
        hasEarlier: excerpt.from > 1,
        ...loadingEarlier,
        isLoadingLater: later.isActive,
        laterError: later.error,
      },
      drafts,
    };
    this.#pending = {};
    for (const listener of this.#listeners) listener();
  }

  #copiedEvents(): readonly DurableEvent[] {
    const { events } = this.#newest;
    // Events are only added, so equal lengths mean equal contents.
    if (this.#copied.events !== events || this.#copied.copy.length !== events.length)
      this.#copied = { events, copy: [...events] };
    return this.#copied.copy;
  }
}
