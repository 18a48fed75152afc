import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import { type IdempotencyKey, type IdempotentAnswer, runOnce } from '../../../lib/db/idempotency.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { EventDraft } from '../domain/change.ts';
import { CheckpointScan, type ForkOrigin, forkDrafts } from '../domain/fork.ts';
import { type PinnedTotal, pinnedBytesOf } from '../domain/pinned.ts';
import { createEventStore, type EventStore } from './events.ts';
import { HISTORY } from './history.ts';
import { compose, type JournalEvent, redraft } from './journal.ts';

/** Events of one read, and bytes of one row of the new journal. */
const PAGE = 500;
const ROW_BYTES = 256 * 1024;

const SESSION = statement(
  'sessions.fork',
  `insert into sessions (session_id, owner_id, agent_id, agent_version, title, metadata, overrides, created_at, source)
   values ($1, $2, $3, $4, $5, $6, (select overrides from sessions where session_id = $7), $8, 'fork')`,
);
const PINNED = statement(
  'sessions.fork_pinned_messages',
  'update sessions set copied_pinned_messages = $2, copied_pinned_bytes = $3 where session_id = $1',
);
const HEAD = statement(
  'sessions.fork_head',
  `insert into heads (session_id, last_seq, status, updated_at) values ($1, $2, 'idle', $3)`,
);
const ROW = statement(
  'sessions.fork_journal',
  `insert into journal (session_id, first_seq, last_seq, types, bytes, events) values ($1, $2, $3, $4, $5, $6)`,
);

interface SessionFork extends ForkOrigin {
  sessionId: string;
  ownerId: string;
  title: string | null;
  metadataJson: string;
  createdAt: Date;
}

export interface ForkResult {
  lastSeq: number;
}

export type SessionForks = ReturnType<typeof createSessionForks>;

/** Creates sessions that begin with a copy of another session's history. A fork does not depend on that session. */
export function createSessionForks(db: Database, ids: Ids) {
  async function insert(tx: DatabaseSession, forked: SessionFork): Promise<ForkResult> {
    const { sessionId, ownerId, agentId, agentVersion, title, metadataJson, createdAt } = forked;
    const events = createEventStore(tx);
    const fields = [sessionId, ownerId, agentId, agentVersion, title, metadataJson];
    await tx.change(SESSION, [...fields, forked.fromSessionId, createdAt]);
    let lastSeq = 0;
    const append = async (drafts: EventDraft[]) => {
      const row = compose(sessionId, lastSeq, drafts, ids, createdAt);
      await tx.change(ROW, [sessionId, row.firstSeq, row.lastSeq, row.types, row.bytes, row.events]);
      lastSeq = row.lastSeq;
    };
    await append(forkDrafts(forked));
    const pinned: PinnedTotal = { messages: 0, bytes: 0 };
    for await (const page of historyOf(events, forked.fromSessionId, forked.fromSeq)) {
      for (const part of rowsOf(page)) await append(part.map(({ json }) => redraft(json)));
      for (const event of page) countPinned(event, pinned);
    }
    if (pinned.messages > 0) await tx.change(PINNED, [sessionId, pinned.messages, pinned.bytes]);
    await tx.change(HEAD, [sessionId, lastSeq, createdAt]);
    return { lastSeq };
  }

  return {
    /** Finds the last checkpoint of a session that is not after `afterSeq`. */
    async checkpoint(sessionId: string, afterSeq: number, options?: ReadOptions): Promise<CheckpointScan> {
      const scan = new CheckpointScan();
      for await (const page of historyOf(createEventStore(db), sessionId, afterSeq, options)) {
        for (const { json } of page) scan.add(JSON.parse(json));
      }
      return scan;
    },

    /** Creates a fork at most once per key. `answer` makes the answer that a later request with the key gets. */
    fork(
      fork: SessionFork,
      key: IdempotencyKey,
      answer: (forked: ForkResult) => Uint8Array,
      options?: WriteOptions,
    ): Promise<IdempotentAnswer> {
      return runOnce(db, key, async (tx) => answer(await insert(tx, fork)), options);
    },
  };
}

/** Adds a copied message to the pinned ones of the fork, if it is pinned. */
function countPinned({ type, json }: JournalEvent, pinned: PinnedTotal): void {
  if (type !== 'user.message' || !json.includes('"pinned":true')) return;
  const { data } = JSON.parse(json) as { data: { content: unknown; pinned?: boolean } };
  if (data.pinned !== true) return;
  pinned.messages += 1;
  pinned.bytes += pinnedBytesOf(data.content);
}

/** Pages of the events that a fork copies: messages, tool results and file events up to a seq. */
async function* historyOf(
  events: EventStore,
  sessionId: string,
  upTo: number,
  options?: ReadOptions,
): AsyncGenerator<JournalEvent[]> {
  const files = new Lookahead((after) => events.files(sessionId, after, PAGE, options));
  for (let cursor = ''; ; ) {
    const page = await events.history(sessionId, HISTORY, { limit: PAGE, cursor }, options, upTo);
    cursor = page.nextCursor;
    const reached = cursor === '' ? upTo : Math.min(upTo, page.events.at(-1)?.seq ?? 0);
    const messages = page.events.filter(({ seq }) => seq <= upTo);
    yield [...messages, ...(await files.upTo(reached))].sort((a, b) => a.seq - b.seq);
    if (cursor === '' || reached === upTo) return;
  }
}

/** Reads a list of events ahead and returns them up to a given seq. */
class Lookahead {
  readonly #read: (after: number) => Promise<JournalEvent[]>;
  #ahead: JournalEvent[] = [];
  #position = 0;
  #ended = false;

  constructor(read: (after: number) => Promise<JournalEvent[]>) {
    this.#read = read;
  }

  async upTo(seq: number): Promise<JournalEvent[]> {
    while (!this.#ended && this.#position < seq) {
      const read = await this.#read(this.#position);
      this.#ended = read.length === 0;
      this.#position = read.at(-1)?.seq ?? this.#position;
      this.#ahead.push(...read);
    }
    const reached = this.#ahead.filter((event) => event.seq <= seq);
    this.#ahead = this.#ahead.slice(reached.length);
    return reached;
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
