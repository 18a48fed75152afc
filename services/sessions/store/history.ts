import { decodeCursor, encodeCursor } from '../../../lib/db/cursor.ts';
import type { Database, ReadOptions } from '../../../lib/db/database.ts';
import { cut, type EventPage, eventsOf } from './event-pages.ts';
import {
  COMPACTIONS,
  DELIVERED_AFTER,
  FIRST_MESSAGES,
  type FirstMessagesRow,
  HISTORY_AFTER,
  HISTORY_CHANGES,
  type JournalRow,
  NEWEST_OF_HISTORY,
  PAGE_BYTES,
  ROWS_OF,
} from './event-statements.ts';
import { HistoryContext } from './history-context.ts';
import { type DeliveredMessage, deliveredEvent, HistoryFilter, WHOLE_HISTORY } from './history-filter.ts';
import type { JournalEvent } from './journal.ts';
import type { PageRequest } from './lists.ts';

/**
 * The messages of a session. The history, which a model gets, has the tool results as well, and leaves out what
 * `HistoryFilter` says.
 */
export const MESSAGES: ReadonlySet<string> = new Set(['user.message', 'agent.message']);
export const HISTORY: ReadonlySet<string> = new Set([...MESSAGES, 'agent.tool_result']);

/** Rows with compactions of one read. Most often the newest one that leaves events out is among them. */
const COMPACTION_ROWS = 8;
/** A session with more rows since its newest compaction that leaves events out does not occur. */
const MAX_COMPACTION_ROWS = 200;

/** Sessions with compactions whose histories a claim reads. */
const MAX_COMPACTED = 16;
const MAX_HISTORY_EVENTS = 1_000;

/** Delivered messages of one read. */
const DELIVERED_PAGE = 100;

interface HistoryRange {
  selectedTypes: ReadonlySet<string>;
  filter: HistoryFilter;
  afterSeq: number;
  /** About as many bytes are read. */
  maxBytes: number;
}

/** Reads the messages of sessions and the histories that models get. */
export function createHistoryReader(db: Pick<Database, 'rows'>) {
  /** The filter of the history of a session as it was at a seq. */
  async function historyFilter(
    sessionId: string,
    upTo: number,
    options?: ReadOptions,
  ): Promise<HistoryFilter> {
    const rows = await db.rows<{ change: string }>(HISTORY_CHANGES, [sessionId, upTo], options);
    return new HistoryFilter(rows.map(({ change }) => change));
  }

  function compactionRows(sessionId: string, before: number, options?: ReadOptions): Promise<JournalRow[]> {
    return db.rows<JournalRow>(COMPACTIONS, [sessionId, before, COMPACTION_ROWS], options);
  }

  /** The compactions in force. Older ones are not read: a long session has thousands of them. */
  async function contextOf(
    sessionId: string,
    filter: HistoryFilter,
    newest: readonly JournalRow[],
    options?: ReadOptions,
  ): Promise<HistoryContext> {
    const rows: JournalRow[] = [];
    for (let page = newest; ; ) {
      rows.push(...page);
      const context = new HistoryContext(filter.apply(rows.flatMap(eventsOf)));
      const isEnd = page.length < COMPACTION_ROWS || rows.length >= MAX_COMPACTION_ROWS;
      if (isEnd || context.afterSeq > 0) return context;
      page = await compactionRows(sessionId, page.at(-1)?.first_seq ?? 0, options);
    }
  }

  /** The messages of these seqs, by seq. */
  async function messagesAt(
    sessionId: string,
    seqs: readonly number[],
    options?: ReadOptions,
  ): Promise<Map<number, JournalEvent>> {
    if (seqs.length === 0) return new Map();
    const rows = await db.rows<JournalRow>(ROWS_OF, [sessionId, seqs], options);
    const wanted = new Set(seqs);
    const found = rows.flatMap(eventsOf).filter(({ seq }) => wanted.has(seq));
    return new Map(found.map((event) => [event.seq, event]));
  }

  /** Selected events with delivered messages at their places. */
  async function placed(
    sessionId: string,
    filter: HistoryFilter,
    { selected, delivered }: { selected: JournalEvent[]; delivered: DeliveredMessage[] },
    options?: ReadOptions,
  ): Promise<JournalEvent[]> {
    const seqs = delivered.map(({ messageSeq }) => messageSeq);
    return filter.place(selected, delivered, await messagesAt(sessionId, seqs, options));
  }

  /** A page of `selectedTypes`, oldest first, from behind `afterSeq` or from the cursor on. */
  async function historyPage(
    sessionId: string,
    { selectedTypes, filter, afterSeq, maxBytes }: HistoryRange,
    page: PageRequest,
    options?: ReadOptions,
  ): Promise<EventPage> {
    const scope = ['history', sessionId, selectedTypes.size];
    const found: JournalEvent[] = [];
    let position = Number(decodeCursor(scope, page.cursor) ?? afterSeq);
    let bytes = 0;
    let ended = false;
    // Tool results may be left out of the rows that were read, so reading goes on until the page is full.
    while (!ended && found.length <= page.limit && bytes < maxBytes) {
      const values = [sessionId, position, page.limit + 1, maxBytes];
      const rows = await db.rows<JournalRow>(HISTORY_AFTER, values, options);
      const read = rows.flatMap(eventsOf);
      const selected = filter.apply(
        read.filter((event) => event.seq > position && selectedTypes.has(event.type)),
      );
      ended = rows.length <= page.limit && isBelow(rows, maxBytes);
      const end = (!ended && read.at(-1)?.seq) || Number.MAX_SAFE_INTEGER;
      const delivered = filter.deliveredBetween(position, end);
      const events = await placed(sessionId, filter, { selected, delivered }, options);
      position = end;
      for (const event of events) bytes += event.json.length;
      found.push(...events);
    }
    const { events, nextCursor } = cut(found, page.limit, scope);
    const unread = nextCursor === '' && !ended;
    return { events, nextCursor: unread ? encodeCursor(scope, String(position)) : nextCursor };
  }

  /**
   * A page of the history as the model gets it: without what the newest compaction leaves out. The first page begins with
   * the compactions in force and the events that the newest one keeps, in addition to the limit of the page.
   */
  async function modelHistory(
    sessionId: string,
    page: PageRequest,
    maxBytes: number,
    options?: ReadOptions,
  ): Promise<EventPage> {
    const isFirst = page.cursor === '';
    const [filter, newest] = await Promise.all([
      historyFilter(sessionId, Number.MAX_SAFE_INTEGER, options),
      isFirst ? compactionRows(sessionId, Number.MAX_SAFE_INTEGER, options) : [],
    ]);
    const range = { selectedTypes: HISTORY, filter, maxBytes };
    if (!isFirst) return historyPage(sessionId, { ...range, afterSeq: 0 }, page, options);
    const { compactions, keptSeqs, afterSeq } = await contextOf(sessionId, filter, newest, options);
    const keptRows =
      keptSeqs.length === 0 ? [] : await db.rows<JournalRow>(ROWS_OF, [sessionId, keptSeqs], options);
    const seqs = new Set(keptSeqs);
    const isKept = ({ seq, type }: JournalEvent) => seqs.has(seq) && HISTORY.has(type);
    const selected = filter.apply(keptRows.flatMap(eventsOf).filter(isKept));
    const delivered = filter.deliveredBetween(0, afterSeq).filter((one) => seqs.has(one.deliveredSeq));
    const kept = await placed(sessionId, filter, { selected, delivered }, options);
    const { events, nextCursor } = await historyPage(sessionId, { ...range, afterSeq }, page, options);
    return { events: [...compactions, ...kept, ...events], nextCursor };
  }

  return {
    /**
     * A page of the history, or of its messages only, oldest first. The answers are those of the session as it was at the
     * seq `upTo`, but later events are not left out.
     */
    async history(
      sessionId: string,
      selectedTypes: ReadonlySet<string>,
      page: PageRequest,
      options?: ReadOptions,
      upTo = Number.MAX_SAFE_INTEGER,
    ): Promise<EventPage> {
      const filter =
        selectedTypes === HISTORY ? await historyFilter(sessionId, upTo, options) : WHOLE_HISTORY;
      const range = { selectedTypes, filter, afterSeq: 0, maxBytes: PAGE_BYTES };
      return historyPage(sessionId, range, page, options);
    },

    modelHistory: (sessionId: string, page: PageRequest, options?: ReadOptions) =>
      modelHistory(sessionId, page, PAGE_BYTES, options),

    /** The compactions in force. */
    async compactions(sessionId: string, options?: ReadOptions): Promise<HistoryContext> {
      const filter = await historyFilter(sessionId, Number.MAX_SAFE_INTEGER, options);
      const newest = await compactionRows(sessionId, Number.MAX_SAFE_INTEGER, options);
      return contextOf(sessionId, filter, newest, options);
    },

    /** The events of the history behind a seq, as the model gets them. Undefined if there are more than about `limit`. */
    async historyBehind(
      sessionId: string,
      afterSeq: number,
      limit: number,
      options?: ReadOptions,
    ): Promise<JournalEvent[] | undefined> {
      const filter = await historyFilter(sessionId, Number.MAX_SAFE_INTEGER, options);
      const range = { selectedTypes: HISTORY, filter, afterSeq, maxBytes: PAGE_BYTES };
      const { events, nextCursor } = await historyPage(sessionId, range, { limit, cursor: '' }, options);
      return nextCursor === '' ? events : undefined;
    },

    /**
     * A page of the messages that were delivered into a turn after `afterSeq`, as the history has them: about 4 MiB, at least
     * one if there is any.
     */
    async delivered(
      sessionId: string,
      turnId: string,
      afterSeq: number,
      options?: ReadOptions,
    ): Promise<{ events: JournalEvent[]; hasMore: boolean }> {
      const values = [sessionId, turnId, afterSeq, DELIVERED_PAGE + 1];
      const found = await db.rows<DeliveredMessage>(DELIVERED_AFTER, values, options);
      const page = found.slice(0, DELIVERED_PAGE);
      const seqs = page.map(({ messageSeq }) => messageSeq);
      const messages = await messagesAt(sessionId, seqs, options);
      const events: JournalEvent[] = [];
      for (let bytes = 0; events.length < page.length && bytes < PAGE_BYTES; ) {
        const message = page[events.length];
        const event = message && messages.get(message.messageSeq);
        if (!event) throw new Error(`the journal of ${sessionId} lacks a delivered message`);
        events.push(deliveredEvent(event, message));
        bytes += event.json.length;
      }
      return { events, hasMore: events.length < found.length };
    },

    /** The turn of the newest message or tool result. Undefined for a session without messages. */
    async newestTurn(sessionId: string, options?: ReadOptions): Promise<string | undefined> {
      const [row] = await db.rows<JournalRow>(NEWEST_OF_HISTORY, [sessionId], options);
      const newest = row && eventsOf(row).findLast(({ type }) => HISTORY.has(type));
      return newest && (JSON.parse(newest.json) as { turn_id?: string }).turn_id;
    },

    /**
     * The first messages of several sessions; of those with compactions, the histories as the model gets them. `complete` is
     * false for a session with more messages than were read.
     */
    async messagesOf(sessionIds: string[], bytesEach: number, rowsEach: number, options?: ReadOptions) {
      const found = await db.rows<FirstMessagesRow>(
        FIRST_MESSAGES,
        [sessionIds, bytesEach, rowsEach],
        options,
      );
      const messages = new Map(
        sessionIds.map((id) => [
          id,
          { events: [] as JournalEvent[], changes: [] as readonly string[], complete: true, rows: 0 },
        ]),
      );
      for (const row of found) {
        const session = messages.get(row.session_id);
        if (!session) continue;
        const { first_seq, events: text } = row;
        session.rows++;
        session.changes = row.changes;
        if (first_seq === null || text === null || session.rows >= rowsEach) session.complete = false;
        if (first_seq === null || text === null) continue;
        const events = eventsOf({ ...row, first_seq, events: text });
        session.events.push(...events.filter(({ type }) => HISTORY.has(type)));
      }
      const compacted = found.filter(({ first_seq: seq }) => seq === null).slice(0, MAX_COMPACTED);
      const page = { limit: MAX_HISTORY_EVENTS, cursor: '' };
      const histories = compacted.map(async ({ session_id: id }) => {
        const history = await modelHistory(id, page, bytesEach, options);
        const session = messages.get(id);
        if (session && history.nextCursor === '')
          Object.assign(session, { events: history.events, changes: [], complete: true });
      });
      await Promise.all(histories);
      for (const session of messages.values())
        if (session.changes.length > 0) session.events = changedHistory(session.events, session.changes);
      return messages;
    },
  };
}

/** A read of rows that ended at its bytes has more of them than this. */
function isBelow(rows: readonly JournalRow[], bytes: number): boolean {
  return rows.reduce((sum, { events }) => sum + Buffer.byteLength(events), 0) < bytes;
}

/** Applies the texts of `HISTORY_CHANGE` to a history from its beginning. */
function changedHistory(events: readonly JournalEvent[], changes: readonly string[]): JournalEvent[] {
  const filter = new HistoryFilter(changes);
  const delivered = filter.deliveredBetween(0, Number.MAX_SAFE_INTEGER);
  return filter.place(filter.apply(events), delivered, new Map(events.map((event) => [event.seq, event])));
}
