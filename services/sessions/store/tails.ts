import { createBatcher } from '../../../lib/db/batcher.ts';
import { type Database, type DatabaseSession, statement } from '../../../lib/db/database.ts';
import { type Columns, columnNames, columnTable } from './columns.ts';
import { type JournalEvent, splitRow } from './journal.ts';

/** The events of a journal after a seq. */
export interface Tail {
  events: JournalEvent[];
  /** No further event existed when these were read. */
  complete: boolean;
}

/** Limits of one read: rows and bytes for each journal, bytes for all journals together. Each journal gets at least one row. */
const ROWS = 500;
const BYTES = 256 * 1024;
const TOTAL_BYTES = 4 * 1024 * 1024;

interface TailRequest {
  sessionId: string;
  afterSeq: number;
}

interface RequestRow extends TailRequest {
  /** Position of the request in its batch. */
  place: number;
}

const REQUEST = {
  session_id: ['text', ({ sessionId }) => sessionId],
  after_seq: ['bigint', ({ afterSeq }) => afterSeq],
  place: ['integer', ({ place }) => place],
} satisfies Columns<RequestRow>;
const REQUESTS = columnTable<RequestRow, typeof REQUEST>(1, REQUEST);

/** Reads the beginning of each tail. `more`: a further row exists that this read does not return. */
const TAILS = statement(
  'sessions.tails',
  `select i.place, t.first_seq, t.types, t.events, t.more
   from (${REQUESTS.selectForLookups(columnNames(REQUEST))}) i
   cross join lateral (
     select first_seq, last_seq, types, events, more from (
       select first_seq, last_seq, types, events, lead(last_seq) over (order by last_seq) is not null as more,
         row_number() over (order by last_seq) as number, sum(bytes) over (order by last_seq) - bytes as before
       from (
         select * from journal j
         where j.session_id = i.session_id and j.last_seq > i.after_seq order by j.last_seq limit ${ROWS + 1}
       ) page
     ) sized
     where before < $${REQUESTS.nextParameter} and number <= ${ROWS}
   ) t
   order by i.place, t.last_seq`,
);

interface Row {
  place: number;
  first_seq: number;
  types: string[];
  events: string;
  more: boolean;
}

export type Tails = ReturnType<typeof createTails>;

/** Reads new events of journals. Requests that arrive together share a statement. */
export function createTails(db: Database) {
  const group = createBatcher<TailRequest, Tail>({
    name: 'sessions.tails',
    observer: db.observer,
    run: (requests, options) => read(db.within(options), requests),
    sizeOf: () => 1,
    maxItems: 256,
    maxBytes: Number.MAX_SAFE_INTEGER,
    // Each open stream waits for at most one read, and a refused one would end the stream.
    isBounded: false,
  });
  return (sessionId: string, afterSeq: number): Promise<Tail> => group.submit({ sessionId, afterSeq });
}

async function read(session: DatabaseSession, requests: TailRequest[]): Promise<Tail[]> {
  const values = REQUESTS.values(requests.map((request, place) => ({ ...request, place })));
  const rows = await session.rows<Row>(TAILS, [
    ...values,
    Math.min(BYTES, Math.ceil(TOTAL_BYTES / requests.length)),
  ]);
  const tails = requests.map((): Tail => ({ events: [], complete: true }));
  for (const { place, more, ...row } of rows) {
    const tail = tails[place];
    if (!tail) continue;
    const after = requests[place]?.afterSeq ?? 0;
    for (const event of splitRow({ firstSeq: row.first_seq, types: row.types, events: row.events })) {
      // A row may begin with events that the caller has read already.
      if (event.seq > after) tail.events.push(event);
    }
    tail.complete = !more;
  }
  return tails;
}
