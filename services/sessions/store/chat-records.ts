import { createBatcher } from '../../../lib/db/batcher.ts';
import { type Database, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { ChatKey, ChatTurn } from './chat-rows.ts';
import { type Columns, columnList, columnNames, columnTable } from './columns.ts';

/** A key and the turn whose answer it stands for. */
export interface NewChatRecord extends ChatKey, ChatTurn {
  recordedAt: Date;
}

const RECORD = {
  owner_id: ['text', ({ ownerId }) => ownerId],
  key: ['bytea', ({ key }) => key],
  session_id: ['text', ({ sessionId }) => sessionId],
  turn_id: ['text', ({ turnId }) => turnId],
  created_at: ['timestamptz', ({ recordedAt }) => recordedAt],
} satisfies Columns<NewChatRecord>;
const ROWS = columnTable<NewChatRecord, typeof RECORD>(1, RECORD);

const INSERT = statement(
  'sessions.record_chats',
  `insert into chat_prefixes (${columnList(RECORD)}) ${ROWS.select(columnNames(RECORD))}
   on conflict (owner_id, key) do update
   set session_id = excluded.session_id, turn_id = excluded.turn_id, claimed_by = null, created_at = excluded.created_at`,
);

const BYTES_PER_RECORD = 200;

/** Records chats. Records that arrive together share a commit. The latest record of a key replaces earlier ones. */
export function createChatRecorder(db: Database) {
  const group = createBatcher<NewChatRecord, void>({
    name: 'sessions.chat_records',
    observer: db.observer,
    run: async (records, options) => {
      await db.change(INSERT, ROWS.values(records), options);
      return records.map(() => undefined);
    },
    sizeOf: () => BYTES_PER_RECORD,
    // One statement cannot write a row twice.
    keyOf: ({ ownerId, key }) => `${ownerId} ${key.toString('hex')}`,
    ownerOf: ({ ownerId }) => ownerId,
    maxItems: 256,
    maxBytes: Number.MAX_SAFE_INTEGER,
    // Each chat waits for at most one record, and without it the chat would go on in a new session.
    isBounded: false,
  });
  return (record: NewChatRecord, { trace }: WriteOptions = {}): Promise<void> =>
    // Without the signal of the caller: a client that leaves at the end of its answer can go on with the chat.
    group.submit(record, { trace });
}
