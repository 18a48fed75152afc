import { type Database, type Session, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { type IdempotencyKey, type OnceAnswer, once } from '../../../lib/db/idempotency.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { Draft } from '../domain/change.ts';
import { Checkpoint, fork } from '../domain/fork.ts';
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

export interface Fork extends Omit<Parameters<typeof fork>[0], 'fromSeq'> {
  sessionId: string;
  ownerId: string;
  title: string | null;
  metadataJson: string;
  /** Nothing after this seq of the other session is taken. */
  afterSeq: number;
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
    const fromSeq = await checkpointOf(events, one.fromSessionId, one.afterSeq);
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
    await append(fork({ ...one, fromSeq }));
    for await (const page of historyOf(events, one.fromSessionId, fromSeq)) {
      for (const row of rowsOf(page)) await append(row.map(({ json }) => redraft(json)));
    }
    await tx.change(HEAD, [sessionId, lastSeq, createdAt]);
    return { lastSeq };
  }

  return {
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

async function* historyOf(
  events: EventStore,
  sessionId: string,
  upTo: number,
): AsyncGenerator<JournalEvent[]> {
  for (let cursor = ''; ; ) {
    const page = await events.history(sessionId, HISTORY, { limit: PAGE, cursor });
    yield page.events.filter(({ seq }) => seq <= upTo);
    cursor = page.nextCursor;
    if (cursor === '' || (page.events.at(-1)?.seq ?? 0) > upTo) return;
  }
}

async function checkpointOf(events: EventStore, sessionId: string, afterSeq: number): Promise<number> {
  const checkpoint = new Checkpoint();
  for await (const page of historyOf(events, sessionId, afterSeq)) {
    for (const { json } of page) checkpoint.pass(JSON.parse(json));
  }
  return checkpoint.seq;
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
