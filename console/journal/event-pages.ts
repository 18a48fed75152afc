import { queryOptions } from '@tanstack/react-query';
import { unwrapPage } from '../api/client.ts';
import type { ListPage } from '../api/pages.ts';
import { type Event, listEvents } from '../gen/index.ts';
import {
  CONVERSATION_TYPES,
  DURABLE_TYPES,
  type DurableEvent,
  isTransient,
  type JournalEvent,
} from './event.ts';
import { countWithoutFiles, pageEnd, pageStart } from './page-boundaries.ts';

/** The most events of a response. */
export const EVENTS_PER_REQUEST = 100;
/** A page opened later than this starts with a fresh newest page. */
const STALE_AFTER_MS = 2_000;
/** A page of the conversation has whole turns and at least this many events. */
const PAGE_EVENTS = 50;
/** A turn with more events than this is loaded in several pages. */
const MAX_PAGE_EVENTS = 1_000;
/** Number of seqs that the first request before a page covers. */
const FIRST_SPAN = 200;
/** When fewer than this share of the seqs are durable events, the next request covers twice as many seqs. */
const DENSE_SHARE = 0.25;

/** Loaded events. `from` and `to` are the seqs between which no durable event is missing. */
export interface EventRange {
  events: DurableEvent[];
  from: number;
  to: number;
}

export interface EventQuery {
  types?: readonly string[];
  after_seq?: number;
  order?: 'newest_first';
  limit?: number;
  cursor?: string | undefined;
}

/** Reads a page of a list of events. */
export function readPage(
  sessionId: string,
  { types, limit = EVENTS_PER_REQUEST, ...query }: EventQuery,
  signal: AbortSignal,
): Promise<ListPage<Event>> {
  const path = { session_id: sessionId };
  return unwrapPage(
    listEvents({ path, query: { ...query, limit, ...(types ? { types: types.join(',') } : {}) }, signal }),
  );
}

export const durableEvents = (items: readonly Event[]): DurableEvent[] =>
  items.filter((event): event is DurableEvent => !isTransient(event));

/** The newest conversation events, newest first. A route loader can request them before the page renders. */
export const newestPage = (sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', sessionId, 'newest'],
    queryFn: async ({ signal }) => {
      for (let cursor: string | undefined; ; ) {
        const query = { types: CONVERSATION_TYPES, order: 'newest_first', cursor } as const;
        const page = await readPage(sessionId, query, signal);
        // A response has no events when it has skipped too many events of other types.
        if (page.items.length > 0 || page.next === undefined) return page;
        cursor = page.next;
      }
    },
    staleTime: STALE_AFTER_MS,
    gcTime: STALE_AFTER_MS,
  });

/** Reads one event. Undefined when the session has no event with this seq. */
export async function readEvent(
  sessionId: string,
  seq: number,
  signal: AbortSignal,
): Promise<JournalEvent | undefined> {
  const { items } = await readPage(sessionId, { after_seq: seq - 1, limit: 1 }, signal);
  const [event] = items;
  return event?.seq === seq ? event : undefined;
}

/** Reads the durable events with a seq from `from` to `to`, oldest first. */
export async function readRange(
  sessionId: string,
  from: number,
  to: number,
  signal: AbortSignal,
  types: readonly string[] = DURABLE_TYPES,
): Promise<DurableEvent[]> {
  const events: DurableEvent[] = [];
  let cursor: string | undefined;
  do {
    const query = { types, after_seq: from - 1, limit: Math.min(EVENTS_PER_REQUEST, to - from + 1), cursor };
    const page = await readPage(sessionId, query, signal);
    events.push(...durableEvents(page.items));
    cursor = page.next;
  } while (cursor !== undefined && (events.at(-1)?.seq ?? 0) < to);
  return events.filter(({ seq }) => seq <= to);
}

/**
 * Reads the page before the seq `before`, which the loaded events `later` follow. It begins with a turn and has at least
 * `least` events, unless the session begins or the turn is longer than a page.
 */
export async function readPageBefore(
  sessionId: string,
  before: number,
  later: readonly DurableEvent[],
  signal: AbortSignal,
  least = PAGE_EVENTS,
): Promise<EventRange> {
  let events: DurableEvent[] = [];
  let from = before;
  let span = FIRST_SPAN;
  while (from > 1 && countWithoutFiles(events) < MAX_PAGE_EVENTS) {
    const end = from - 1;
    from = Math.max(1, from - span);
    const earlier = await readRange(sessionId, from, end, signal);
    events = [...earlier, ...events];
    const start = pageStart(events, later, least);
    const first = start === undefined ? undefined : events[start];
    if (start !== undefined && first) return { events: events.slice(start), from: first.seq, to: before - 1 };
    if (earlier.length < span * DENSE_SHARE) span *= 2;
  }
  return { events, from, to: before - 1 };
}

/**
 * Reads the page after a seq. It has at least PAGE_EVENTS events and ends with a turn, unless the session ends or the turn is
 * longer than a page.
 */
export async function readPageAfter(
  sessionId: string,
  after: number,
  signal: AbortSignal,
): Promise<EventRange> {
  const events: DurableEvent[] = [];
  let cursor: string | undefined;
  do {
    const page = await readPage(sessionId, { types: DURABLE_TYPES, after_seq: after, cursor }, signal);
    events.push(...durableEvents(page.items));
    cursor = page.next;
    const count = pageEnd(events, PAGE_EVENTS);
    const last = count === undefined ? undefined : events[count - 1];
    if (last) return { events: events.slice(0, count), from: after + 1, to: last.seq };
  } while (cursor !== undefined && countWithoutFiles(events) < MAX_PAGE_EVENTS);
  const isEnd = cursor === undefined;
  return { events, from: after + 1, to: isEnd ? Number.POSITIVE_INFINITY : (events.at(-1)?.seq ?? after) };
}

/** Joins two ranges that touch or overlap. */
export function joined(earlier: EventRange, later: EventRange): EventRange {
  const events = earlier.events.filter(({ seq }) => seq < later.from);
  return { events: [...events, ...later.events], from: Math.min(earlier.from, later.from), to: later.to };
}

/** Adds events that are missing. */
export function mergedBySeq(
  events: readonly DurableEvent[],
  others: readonly DurableEvent[],
): DurableEvent[] {
  const known = new Set(events.map(({ seq }) => seq));
  return [...events, ...others.filter(({ seq }) => !known.has(seq))].sort(
    (one, other) => one.seq - other.seq,
  );
}
