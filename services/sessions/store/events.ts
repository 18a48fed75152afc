import { type CursorScope, decodeCursor, encodeCursor } from '../../../lib/db/cursor.ts';
import { type Database, type ReadOptions, statement } from '../../../lib/db/database.ts';
import { type JournalEvent, split } from './journal.ts';
import type { PageRequest } from './lists.ts';

/** A page of rows is cut at about this many bytes, though it holds at least one row. */
const PAGE_BYTES = 4 * 1024 * 1024;

/** The index of the history knows this array. */
const HISTORY_TYPES = `array['user.message', 'agent.message', 'agent.tool_result']`;

const AFTER = statement(
  'sessions.events_after',
  `select first_seq, types, events from (
     select first_seq, last_seq, types, events, sum(bytes) over (order by last_seq) - bytes as before
     from (
       select * from journal where session_id = $1 and last_seq > $2 order by last_seq limit $3
     ) page
   ) sized
   where before < $4 order by last_seq`,
);

/** $2 is the newest event that is asked for, which may stand in the middle of a row. */
const UP_TO = statement(
  'sessions.events_up_to',
  `select first_seq, types, events from (
     select first_seq, last_seq, types, events, sum(bytes) over (order by last_seq desc) - bytes as before
     from (
       select * from journal
       where session_id = $1 and last_seq <= (
         select last_seq from journal where session_id = $1 and last_seq >= $2 order by last_seq limit 1
       )
       order by last_seq desc limit $3
     ) page
   ) sized
   where before < $4 order by last_seq desc`,
);

const HISTORY_AFTER = statement(
  'sessions.history_after',
  `select first_seq, types, events from (
     select first_seq, last_seq, types, events, sum(bytes) over (order by last_seq) - bytes as before
     from (
       select * from journal
       where session_id = $1 and last_seq > $2 and types && ${HISTORY_TYPES}
       order by last_seq limit $3
     ) page
   ) sized
   where before < $4 order by last_seq`,
);

/** Changes of files; the index of them knows this array. */
const FILES_AFTER = statement(
  'sessions.files_after',
  `select first_seq, types, events from (
     select first_seq, last_seq, types, events, sum(bytes) over (order by last_seq) - bytes as before
     from (
       select * from journal
       where session_id = $1 and last_seq > $2
         and types && array['file.created', 'file.modified', 'file.deleted']
       order by last_seq limit $3
     ) page
   ) sized
   where before < $4 order by last_seq`,
);

/** The beginning of each session's messages, up to $2 bytes and $3 rows a session; the last row tells if that is all. */
const BEGINNINGS = statement(
  'sessions.message_beginnings',
  `select m.session_id, m.first_seq, m.types, case when m.before < $2 then m.events end as events
   from unnest($1::text[]) as i (session_id)
   cross join lateral (
     select session_id, first_seq, last_seq, types, events, sum(bytes) over (order by last_seq) as before
     from (
       select * from journal j
       where j.session_id = i.session_id and types && ${HISTORY_TYPES}
       order by last_seq limit $3
     ) page
   ) m
   order by m.session_id, m.last_seq`,
);

const HEADS = statement(
  'sessions.heads',
  `select h.session_id, h.last_seq, s.deleted_at is not null as deleted
   from heads h join sessions s using (session_id) where h.session_id = any($1)`,
);

interface Row {
  first_seq: number;
  types: string[];
  events: string;
}

export interface Head {
  sessionId: string;
  lastSeq: number;
  deleted: boolean;
}

/** Events one request looks at when a filter leaves most of them out. */
const MAX_SCANNED = 20_000;
/** Rows that are read at a time where a filter may leave few of them. */
const FILTERED_ROWS = 1_000;
/** What was said; with what tools gave it is what a model is told. */
export const MESSAGES: ReadonlySet<string> = new Set(['user.message', 'agent.message']);
export const HISTORY: ReadonlySet<string> = new Set([...MESSAGES, 'agent.tool_result']);

const FILES: ReadonlySet<string> = new Set(['file.created', 'file.modified', 'file.deleted']);

/** Which events of a journal are asked for. */
export interface EventRange {
  afterSeq: number;
  lastSeq: number;
  /** Empty for all. */
  types: readonly string[];
  newestFirst: boolean;
}

export interface EventPage {
  events: JournalEvent[];
  /** Empty when this is the last page. */
  nextCursor: string;
}

export type EventStore = ReturnType<typeof createEventStore>;

/** Reads the journal. */
export function createEventStore(db: Pick<Database, 'rows'>) {
  /** Events after `afterSeq`, oldest first: those of at most `rows` appends. Empty means there are none now. */
  async function after(sessionId: string, afterSeq: number, rows: number, options?: ReadOptions) {
    const found = await db.rows<Row>(AFTER, [sessionId, afterSeq, rows, PAGE_BYTES], options);
    return found.flatMap(eventsOf).filter((event) => event.seq > afterSeq);
  }

  /** Events before `beforeSeq`, newest first. */
  async function before(sessionId: string, beforeSeq: number, rows: number, options?: ReadOptions) {
    const found = await db.rows<Row>(UP_TO, [sessionId, beforeSeq - 1, rows, PAGE_BYTES], options);
    return found.flatMap((row) => eventsOf(row).reverse()).filter((event) => event.seq < beforeSeq);
  }

  return {
    /** A page of the history, or of its messages alone, oldest first. */
    async history(
      sessionId: string,
      wanted: ReadonlySet<string>,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<EventPage> {
      const scope = ['history', sessionId, wanted.size];
      const found: JournalEvent[] = [];
      let place = Number(decodeCursor(scope, page.cursor) ?? 0);
      let bytes = 0;
      let ended = false;
      // Of what was read, tool results may be left out: reading goes on until the page is full.
      while (!ended && found.length <= page.limit && bytes < PAGE_BYTES) {
        const asked = [sessionId, place, page.limit + 1, PAGE_BYTES];
        const read = (await db.rows<Row>(HISTORY_AFTER, asked, options)).flatMap(eventsOf);
        const events = read.filter((event) => event.seq > place && wanted.has(event.type));
        place = read.at(-1)?.seq ?? place;
        ended = read.length === 0;
        for (const event of events) bytes += event.json.length;
        found.push(...events);
      }
      const { events, nextCursor } = cut(found, page.limit, scope);
      const unread = nextCursor === '' && !ended;
      return { events, nextCursor: unread ? encodeCursor(scope, String(place)) : nextCursor };
    },

    /** The changes of files after `afterSeq`, oldest first, those of at most `rows` appends. */
    async files(sessionId: string, afterSeq: number, rows: number, options?: ReadOptions) {
      const found = await db.rows<Row>(FILES_AFTER, [sessionId, afterSeq, rows, PAGE_BYTES], options);
      return found.flatMap(eventsOf).filter(({ seq, type }) => seq > afterSeq && FILES.has(type));
    },

    /** A page of the events between `afterSeq` and `lastSeq`, in either order; empty `types` are all types. */
    async page(
      sessionId: string,
      { afterSeq, lastSeq, types, newestFirst }: EventRange,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<EventPage> {
      const scope = ['events', sessionId, afterSeq, newestFirst, ...types];
      const wanted = new Set(types);
      const found: JournalEvent[] = [];
      const [start, end] = newestFirst ? [lastSeq + 1, afterSeq + 1] : [afterSeq, lastSeq];
      const read = newestFirst ? before : after;
      /** The event that was read last: nothing has been read when it stands at the start. */
      let place = Number(decodeCursor(scope, page.cursor) ?? start);
      let bytes = 0;
      let scanned = 0;
      const isUnread = () => (newestFirst ? place > end : place < end);
      // A filter may leave nothing of what was read, so reading goes on, though not for ever.
      const rows = wanted.size > 0 ? FILTERED_ROWS : page.limit + 1;
      while (found.length <= page.limit && isUnread() && bytes < PAGE_BYTES && scanned < MAX_SCANNED) {
        const events = await read(sessionId, place, rows, options);
        if (events.length === 0) break;
        scanned += events.length;
        place = events.at(-1)?.seq ?? place;
        for (const event of events) {
          if (event.seq <= afterSeq || (wanted.size > 0 && !wanted.has(event.type))) continue;
          found.push(event);
          bytes += event.json.length;
        }
      }
      const { events, nextCursor } = cut(found, page.limit, scope);
      const goesOn = nextCursor === '' && isUnread();
      return { events, nextCursor: goesOn ? encodeCursor(scope, String(place)) : nextCursor };
    },

    /** The messages of many sessions at once, for a claim. `complete` is false where only a beginning was read. */
    async messagesOf(sessionIds: string[], bytesEach: number, rowsEach: number, options?: ReadOptions) {
      const found = await db.rows<{ session_id: string } & Omit<Row, 'events'> & { events: string | null }>(
        BEGINNINGS,
        [sessionIds, bytesEach, rowsEach],
        options,
      );
      const messages = new Map(
        sessionIds.map((id) => [id, { events: [] as JournalEvent[], complete: true, rows: 0 }]),
      );
      for (const row of found) {
        const one = messages.get(row.session_id);
        if (!one) continue;
        one.rows++;
        if (row.events === null || one.rows >= rowsEach) one.complete = false;
        if (row.events === null) continue;
        one.events.push(
          ...eventsOf({ ...row, events: row.events }).filter((event) => HISTORY.has(event.type)),
        );
      }
      return messages;
    },

    /** Where these journals end. */
    async heads(sessionIds: string[], options?: ReadOptions): Promise<Head[]> {
      const rows = await db.rows<{ session_id: string; last_seq: number; deleted: boolean }>(
        HEADS,
        [sessionIds],
        options,
      );
      return rows.map((row) => ({ sessionId: row.session_id, lastSeq: row.last_seq, deleted: row.deleted }));
    },
  };
}

function eventsOf(row: Row): JournalEvent[] {
  return split({ firstSeq: row.first_seq, types: row.types, events: row.events });
}

/** Cuts what was read to a page of `limit` events and about 4 MiB, at least one event long. */
function cut(read: JournalEvent[], limit: number, scope: CursorScope): EventPage {
  let bytes = 0;
  let length = 0;
  for (const event of read.slice(0, limit)) {
    bytes += event.json.length;
    if (length > 0 && bytes > PAGE_BYTES) break;
    length++;
  }
  const events = read.slice(0, length);
  const last = events.at(-1);
  const more = read.length > length && last !== undefined;
  return { events, nextCursor: more ? encodeCursor(scope, String(last.seq)) : '' };
}
