import { type Database, type Session, statement } from '../../../lib/db/database.ts';
import { createGroup } from '../../../lib/db/group.ts';
import { columns } from './columns.ts';
import { type JournalEvent, split } from './journal.ts';

/** What comes after a place in a journal. */
export interface Tail {
  events: JournalEvent[];
  /** There was nothing behind these when they were read. */
  complete: boolean;
}

/** Rows of one journal in one read, and bytes of all journals together; of each there is at least one row. */
const ROWS = 500;
const BYTES = 4 * 1024 * 1024;

/** The beginning of each tail. `more`: whether a row follows that is not among these. */
const TAILS = statement(
  'sessions.tails',
  `select i.place, t.first_seq, t.types, t.events, t.more
   from (
     select unnest($1::text[]) as session_id, unnest($2::bigint[]) as after_seq, unnest($3::integer[]) as place
   ) i
   cross join lateral (
     select first_seq, last_seq, types, events, more from (
       select first_seq, last_seq, types, events, lead(last_seq) over (order by last_seq) is not null as more,
         row_number() over (order by last_seq) as number, sum(bytes) over (order by last_seq) - bytes as before
       from (
         select * from journal j
         where j.session_id = i.session_id and j.last_seq > i.after_seq order by j.last_seq limit ${ROWS + 1}
       ) page
     ) sized
     where before < $4 and number <= ${ROWS}
   ) t
   order by i.place, t.last_seq`,
);

interface Item {
  sessionId: string;
  afterSeq: number;
}

interface Row {
  place: number;
  first_seq: number;
  types: string[];
  events: string;
  more: boolean;
}

export type Tails = ReturnType<typeof createTails>;

/** Reads what is new in journals. Those who ask together share a statement. */
export function createTails(db: Database) {
  const group = createGroup<Item, Tail>({
    name: 'sessions.tails',
    watch: db.watch,
    run: (items, options) => read(db.within(options), items),
    sizeOf: () => 1,
    maxItems: 256,
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  return (sessionId: string, afterSeq: number): Promise<Tail> => group.submit({ sessionId, afterSeq });
}

async function read(session: Session, items: Item[]): Promise<Tail[]> {
  const places = items.map((item, place) => ({ ...item, place }));
  const asked = columns(places, ({ sessionId, afterSeq, place }) => [sessionId, afterSeq, place], 3);
  const rows = await session.rows<Row>(TAILS, [...asked, Math.ceil(BYTES / items.length)]);
  const tails = items.map((): Tail => ({ events: [], complete: true }));
  for (const { place, more, ...row } of rows) {
    const tail = tails[place];
    if (!tail) continue;
    const after = items[place]?.afterSeq ?? 0;
    for (const event of split({ firstSeq: row.first_seq, types: row.types, events: row.events })) {
      // A row may have begun before the place.
      if (event.seq > after) tail.events.push(event);
    }
    tail.complete = !more;
  }
  return tails;
}
