import { type CursorScope, encodeCursor } from '../../../lib/db/cursor.ts';
import { type JournalRow, PAGE_BYTES } from './event-statements.ts';
import { type JournalEvent, splitRow } from './journal.ts';

export interface EventPage {
  events: JournalEvent[];
  /** Empty when this is the last page. */
  nextCursor: string;
}

/** The events of a journal row, oldest first. */
export function eventsOf(row: JournalRow): JournalEvent[] {
  return splitRow({ firstSeq: row.first_seq, types: row.types, events: row.events });
}

/** Cuts events to a page of at most `limit` events and about 4 MiB, with at least one event. */
export function cut(read: JournalEvent[], limit: number, scope: CursorScope): EventPage {
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
