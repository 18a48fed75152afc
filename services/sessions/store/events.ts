import { decodeCursor, encodeCursor } from '../../../lib/db/cursor.ts';
import type { Database, ReadOptions } from '../../../lib/db/database.ts';
import { cut, type EventPage, eventsOf } from './event-pages.ts';
import {
  AFTER,
  FILES_AFTER,
  HEADS_AFTER,
  HISTORY_AFTER,
  type JournalRow,
  MESSAGES_AFTER,
  MESSAGES_UP_TO,
  PAGE_BYTES,
  UP_TO,
} from './event-statements.ts';
import { createHistoryReader } from './history.ts';
import type { JournalEvent } from './journal.ts';
import type { PageRequest } from './lists.ts';

/** Rows that are searched for the last message of a turn. */
const MESSAGE_ROWS = 20;

interface JournalHead {
  sessionId: string;
  lastSeq: number;
}

/** Maximum number of events that one request reads when a filter excludes most of them. */
const MAX_SCANNED = 20_000;
/** Rows of one read when a filter may exclude most events. */
const FILTERED_ROWS = 1_000;
const FILES: ReadonlySet<string> = new Set([
  'files.uploaded',
  'file.created',
  'file.modified',
  'file.deleted',
]);

/** The events that a page is taken from. */
interface EventRange {
  afterSeq: number;
  lastSeq: number;
  /** Empty for all types. */
  types: readonly string[];
  newestFirst: boolean;
}

/** The parts of a turn that show where its last message is. */
interface LastStep {
  turn_id: string;
  position: number;
  /** The seq before the last model step. Null before the first one. */
  step_after: number | null;
}

/** The id of the turn is within this many characters of an event. */
const HEAD_CHARACTERS = 300;

export type EventStore = ReturnType<typeof createEventStore>;

/** Reads journals. */
export function createEventStore(db: Pick<Database, 'rows'>) {
  /** Events after `afterSeq`, oldest first, of at most `rows` journal rows. Empty when there are none. */
  async function after(sessionId: string, afterSeq: number, rows: number, options?: ReadOptions) {
    const found = await db.rows<JournalRow>(AFTER, [sessionId, afterSeq, rows, PAGE_BYTES], options);
    return found.flatMap(eventsOf).filter((event) => event.seq > afterSeq);
  }

  /** Events before `beforeSeq`, newest first, of at most `rows` journal rows. */
  async function before(sessionId: string, beforeSeq: number, rows: number, options?: ReadOptions) {
    const found = await db.rows<JournalRow>(UP_TO, [sessionId, beforeSeq - 1, rows, PAGE_BYTES], options);
    return found.flatMap((row) => eventsOf(row).reverse()).filter((event) => event.seq < beforeSeq);
  }

  /** The last message of the agent in these rows that belongs to a turn. */
  function lastIn(rows: JournalRow[], turnId: string): JournalEvent | undefined {
    const isOfTurn = ({ type, json }: JournalEvent) =>
      type === 'agent.message' && json.slice(0, HEAD_CHARACTERS).includes(`"turn_id":"${turnId}"`);
    return rows
      .flatMap(eventsOf)
      .sort((a, b) => a.seq - b.seq)
      .findLast(isOfTurn);
  }

  return {
    ...createHistoryReader(db),

    /**
     * The last message of the agent in a turn. It follows the start of the last model step; a step without a message is
     * preceded by the messages of earlier steps.
     */
    async lastMessage(
      sessionId: string,
      { turn_id: turnId, step_after: stepAfter, position }: LastStep,
      options?: ReadOptions,
    ): Promise<JournalEvent | undefined> {
      const from = stepAfter ?? position;
      const next = await db.rows<JournalRow>(
        MESSAGES_AFTER,
        [sessionId, from, MESSAGE_ROWS, PAGE_BYTES],
        options,
      );
      const found = lastIn(next, turnId);
      if (found || stepAfter === null) return found;
      const earlier = await db.rows<JournalRow>(
        MESSAGES_UP_TO,
        [sessionId, from, MESSAGE_ROWS, PAGE_BYTES],
        options,
      );
      return lastIn(earlier, turnId);
    },

    /** Those of the digests that occur in a message or a tool result, of answers that were replaced as well. */
    async referencedParts(
      sessionId: string,
      digests: readonly string[],
      options?: ReadOptions,
    ): Promise<string[]> {
      const missing = new Set(digests);
      const isFound = (row: JournalRow, digest: string) => row.events.includes(`"${digest}"`);
      for (let position = 0; missing.size > 0; ) {
        const values = [sessionId, position, FILTERED_ROWS, PAGE_BYTES];
        const rows = await db.rows<JournalRow>(HISTORY_AFTER, values, options);
        for (const digest of [...missing])
          if (rows.some((row) => isFound(row, digest))) missing.delete(digest);
        const last = rows.at(-1);
        if (!last) break;
        position = last.first_seq + last.types.length - 1;
      }
      return digests.filter((digest) => !missing.has(digest));
    },

    /** File events after `afterSeq`, oldest first, of at most `rows` journal rows. */
    async files(sessionId: string, afterSeq: number, rows: number, options?: ReadOptions) {
      const found = await db.rows<JournalRow>(FILES_AFTER, [sessionId, afterSeq, rows, PAGE_BYTES], options);
      return found.flatMap(eventsOf).filter(({ seq, type }) => seq > afterSeq && FILES.has(type));
    },

    /** A page of the events after `afterSeq` up to `lastSeq`, in either order. */
    async page(
      sessionId: string,
      { afterSeq, lastSeq, types, newestFirst }: EventRange,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<EventPage> {
      const scope = ['events', sessionId, afterSeq, newestFirst, ...types];
      const selectedTypes = new Set(types);
      const found: JournalEvent[] = [];
      const [start, end] = newestFirst ? [lastSeq + 1, afterSeq + 1] : [afterSeq, lastSeq];
      const read = newestFirst ? before : after;
      /** Seq of the last event that was read. */
      let position = Number(decodeCursor(scope, page.cursor) ?? start);
      let bytes = 0;
      let scanned = 0;
      const isUnread = () => (newestFirst ? position > end : position < end);
      // A filter may exclude every event of a read, so reading goes on, up to a limit.
      const rows = selectedTypes.size > 0 ? FILTERED_ROWS : page.limit + 1;
      while (found.length <= page.limit && isUnread() && bytes < PAGE_BYTES && scanned < MAX_SCANNED) {
        const events = await read(sessionId, position, rows, options);
        if (events.length === 0) break;
        scanned += events.length;
        position = events.at(-1)?.seq ?? position;
        for (const event of events) {
          if (event.seq <= afterSeq || (selectedTypes.size > 0 && !selectedTypes.has(event.type))) continue;
          found.push(event);
          bytes += event.json.length;
        }
      }
      const { events, nextCursor } = cut(found, page.limit, scope);
      const hasMore = nextCursor === '' && isUnread();
      return { events, nextCursor: hasMore ? encodeCursor(scope, String(position)) : nextCursor };
    },

    /** Returns the heads of the journals with events after these seqs. The lists have the same length. */
    async headsAfter(sessionIds: string[], seqs: number[]): Promise<JournalHead[]> {
      const rows = await db.rows<{ session_id: string; last_seq: number }>(HEADS_AFTER, [sessionIds, seqs]);
      return rows.map((row) => ({ sessionId: row.session_id, lastSeq: row.last_seq }));
    },
  };
}
