import {
  type Database,
  type ReadOptions,
  type Session,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { type IdempotencyKey, type OnceAnswer, once } from '../../../lib/db/idempotency.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Draft } from '../domain/change.ts';
import { Checkpoint, type Forking, fork } from '../domain/fork.ts';
import { createEventStore, type EventStore, HISTORY } from './events.ts';
import { compose, type JournalEvent, redraft } from './journal.ts';

/** Events that are read at a time, and bytes that become one row of the new journal. */
const PAGE = 500;
const ROW_BYTES = 256 * 1024;

const SESSION = statement(
  'sessions.fork',
  `insert into sessions (session_id, owner_id, agent_id, agent_version, title, metadata, created_at)
   values ($1, $2, $3, $4, $5, $6, $7)`,
);
const HEAD = statement(
  'sessions.fork_head',
  `insert into heads (session_id, last_seq, status, updated_at) values ($1, $2, 'idle', $3)`,
);
const ROW = statement(
  'sessions.fork_journal',
  `insert into journal (session_id, first_seq, last_seq, types, bytes, events) values ($1, $2, $3, $4, $5, $6)`,
);

export interface Fork extends Forking {
  sessionId: string;
  ownerId: string;
  title: string | null;
  metadataJson: string;
  createdAt: Date;
}

export interface Forked {
  lastSeq: number;
}

export type Forks = ReturnType<typeof createForks>;

/** Makes sessions that begin with the history of another one. They are whole: nothing in them depends on it. */
export function createForks(db: Database, ids: Ids) {
  async function insert(tx: Session, one: Fork): Promise<Forked> {
    const { sessionId, ownerId, agentId, agentVersion, title, metadataJson, createdAt } = one;
    const events = createEventStore(tx);
    await tx.change(SESSION, [sessionId, ownerId, agentId, agentVersion, title, metadataJson, createdAt]);
    let lastSeq = 0;
    const append = async (drafts: Draft[]) => {
      const entry = compose(sessionId, lastSeq, drafts, ids, createdAt);
      await tx.change(ROW, [
        sessionId,
        entry.firstSeq,
        entry.lastSeq,
        entry.types,
        entry.bytes,
        entry.events,
      ]);
      lastSeq = entry.lastSeq;
    };
    await append(fork(one));
    for await (const page of historyOf(events, one.fromSessionId, one.fromSeq)) {
      for (const row of rowsOf(page)) await append(row.map(({ json }) => redraft(json)));
    }
    await tx.change(HEAD, [sessionId, lastSeq, createdAt]);
    return { lastSeq };
  }

  return {
    /** The last place of a session, not after `afterSeq`, from which another can go on. */
    async checkpoint(sessionId: string, afterSeq: number, options?: ReadOptions): Promise<Checkpoint> {
      const checkpoint = new Checkpoint();
      for await (const page of historyOf(createEventStore(db), sessionId, afterSeq, options)) {
        for (const { json } of page) checkpoint.pass(JSON.parse(json));
      }
      return checkpoint;
    },

    /** At most once per key; `answer` makes what a later request with the key gets. */
    fork(
      one: Fork,
      key: IdempotencyKey,
      answer: (forked: Forked) => Uint8Array,
      options?: WriteOptions,
    ): Promise<OnceAnswer> {
      return once(db, key, async (tx) => answer(await insert(tx, one)), options);
    },
  };
}

/** What a fork takes over, in pages: what was said, and what became of files. */
async function* historyOf(
  events: EventStore,
  sessionId: string,
  upTo: number,
  options?: ReadOptions,
): AsyncGenerator<JournalEvent[]> {
  const files = new Lookahead((after) => events.files(sessionId, after, PAGE, options));
  for (let cursor = ''; ; ) {
    const page = await events.history(sessionId, HISTORY, { limit: PAGE, cursor }, options);
    cursor = page.nextCursor;
    const reached = cursor === '' ? upTo : Math.min(upTo, page.events.at(-1)?.seq ?? 0);
    const said = page.events.filter(({ seq }) => seq <= upTo);
    yield [...said, ...(await files.upTo(reached))].sort((one, other) => one.seq - other.seq);
    if (cursor === '' || reached === upTo) return;
  }
}

/** Reads a list of events ahead, and gives them out as far as somebody else has come. */
class Lookahead {
  readonly #read: (after: number) => Promise<JournalEvent[]>;
  #ahead: JournalEvent[] = [];
  #place = 0;
  #ended = false;

  constructor(read: (after: number) => Promise<JournalEvent[]>) {
    this.#read = read;
  }

  async upTo(seq: number): Promise<JournalEvent[]> {
    while (!this.#ended && this.#place < seq) {
      const read = await this.#read(this.#place);
      this.#ended = read.length === 0;
      this.#place = read.at(-1)?.seq ?? this.#place;
      this.#ahead.push(...read);
    }
    const given = this.#ahead.filter((event) => event.seq <= seq);
    this.#ahead = this.#ahead.slice(given.length);
    return given;
  }
}

function* rowsOf(page: readonly JournalEvent[]): Generator<JournalEvent[]> {
  let row: JournalEvent[] = [];
  let bytes = 0;
  for (const event of page) {
    if (row.length > 0 && bytes + event.json.length > ROW_BYTES) {
      yield row;
      row = [];
      bytes = 0;
    }
    row.push(event);
    bytes += event.json.length;
  }
  if (row.length > 0) yield row;
}
