import { createBatcher, type SubmitOptions } from '../../../lib/db/batcher.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  type Statement,
  statement,
  type WriteOptions,
} from '../../../lib/db/database.ts';
import {
  findAnswer,
  type IdempotencyKey,
  type IdempotentAnswer,
  runOnce,
} from '../../../lib/db/idempotency.ts';
import type { Refusal } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import type { NewTurn } from '../domain/change.ts';
import { initialize, type NewSession, tokenOf } from '../domain/create.ts';
import type { SessionStatus } from '../domain/state.ts';
import { type Columns, columnList, columnNames, columnTable } from './columns.ts';
import type { Hints } from './hints.ts';
import { compose, type JournalRow } from './journal.ts';
import type { TurnQuota } from './quota.ts';
import { sessionEnvironments } from './session-environments.ts';

/** A new session with the rows that it begins with. */
interface CreatedRows {
  session: NewSession;
  newTurn: NewTurn | undefined;
  status: SessionStatus;
  row: JournalRow;
}

const SESSION = {
  session_id: ['text', ({ session }) => session.sessionId],
  owner_id: ['text', ({ session }) => session.ownerId],
  agent_id: ['text', ({ session }) => session.agentId],
  agent_version: ['integer', ({ session }) => session.agentVersion],
  deployment_id: ['text', ({ session }) => session.deploymentId],
  title: ['text', ({ session }) => session.title],
  metadata: ['json', ({ session }) => JSON.stringify(session.metadata)],
  overrides: ['text', ({ session }) => session.overridesJson],
  body_bytes: ['bigint', ({ session }) => session.bodyBytes],
  source_address: ['text', ({ session }) => session.sourceAddress],
  request_id: ['text', ({ session }) => session.requestId],
  source: ['text', ({ session }) => session.source],
  token_id: ['text', ({ session }) => tokenOf(session)],
  created_at: ['timestamptz', ({ session }) => session.createdAt],
} satisfies Columns<CreatedRows>;

const HEAD = {
  last_seq: ['bigint', ({ row }) => row.lastSeq],
  status: ['text', ({ status }) => status],
} satisfies Columns<CreatedRows>;

const JOURNAL = {
  types: ['text', ({ row }) => row.types.join('|')],
  bytes: ['integer', ({ row }) => row.bytes],
  events: ['json texts', ({ row }) => row.events],
} satisfies Columns<CreatedRows>;

const TURN = {
  /** The column of the session has the same value. */
  overrides: SESSION.overrides,
  turn_id: ['text', ({ newTurn }) => newTurn?.turnId],
  /** The first event has the seq 1. */
  position: ['bigint', ({ newTurn }) => newTurn && newTurn.draftIndex + 1],
  priority: ['smallint', ({ session }) => session.priority],
  traceparent: ['text', ({ session }) => session.traceparent],
} satisfies Columns<CreatedRows>;

const ROWS = columnTable<CreatedRows, typeof SESSION & typeof HEAD & typeof JOURNAL & typeof TURN>(1, {
  ...SESSION,
  ...HEAD,
  ...JOURNAL,
  ...TURN,
});

/** The parts of `sessions.create` that differ when a session of the group writes signals. */
interface SignalParts {
  column: string;
  value: string;
  /** Writes the rows. */
  insert: string;
}

const WITHOUT_SIGNALS: SignalParts = { column: '', value: '', insert: '' };

/** Whether the session is one of those that the last parameter lists. */
const HAS_SIGNALS = `session_id = any ($${ROWS.nextParameter}::text[])`;

const WITH_SIGNALS: SignalParts = {
  column: ', has_signals',
  value: `, ${HAS_SIGNALS}`,
  insert: `,
   signalled as (
     insert into signals (kind, session_id, turn_id, turn_status, created_at)
     select 'turn_queued', session_id, turn_id, 'queued', created_at
     from (${ROWS.select(['session_id', 'turn_id', 'created_at'])}) i
     join made using (session_id)
     where turn_id is not null and ${HAS_SIGNALS}
   )`,
};

/** Inserts all rows of any number of new sessions. A session that exists already stays as it is. */
function createStatement(name: string, signals: SignalParts): Statement {
  const { column, value, insert } = signals;
  return statement(
    name,
    `with
   made as (
     insert into sessions (${columnList(SESSION)})
     ${ROWS.select(columnNames(SESSION))}
     on conflict (session_id) do nothing
     returning session_id
   ),
   head as (
     insert into heads (session_id, last_seq, status, queued_turns, updated_at${column})
     select session_id, last_seq, status, case when turn_id is null then 0 else 1 end, created_at${value}
     from (${ROWS.select(['session_id', ...columnNames(HEAD), 'turn_id', 'created_at'])}) i
     join made using (session_id)
   ),
   appended as (
     insert into journal (session_id, first_seq, last_seq, types, bytes, events)
     select session_id, 1, last_seq, string_to_array(types, '|'), bytes, events
     from (${ROWS.select(['session_id', 'last_seq', ...columnNames(JOURNAL)])}) i
     join made using (session_id)
   ),
   queued as (
     insert into turns
       (session_id, owner_id, agent_id, agent_version, ${columnList(TURN)}, status, ready, created_at${column})
     select session_id, owner_id, agent_id, agent_version, ${columnList(TURN)}, 'queued', true, created_at${value}
     from (${ROWS.select(['session_id', 'owner_id', 'agent_id', 'agent_version', ...columnNames(TURN), 'created_at'])}) i
     join made using (session_id)
     where turn_id is not null
   )${insert}
   select session_id from made`,
  );
}

const CREATE = createStatement('sessions.create', WITHOUT_SIGNALS);
/** A statement of its own, so that sessions without signals cost as much as before. */
const CREATE_SIGNALLED = createStatement('sessions.create_signalled', WITH_SIGNALS);

/** A repeated invocation has queued its turn already, and the turn must not count against the quota again. */
const EXISTING = statement(
  'sessions.there',
  'select session_id from sessions where session_id = any ($1::text[])',
);

export type { IdempotencyKey };

export type Creations = ReturnType<typeof createCreations>;

interface CreationsContext {
  db: Database;
  hints: Hints;
  ids: Ids;
  /** Undefined when turns are not limited. */
  quota: TurnQuota | undefined;
}

/** Creates sessions, and their first turn when they have a message. Requests that arrive together share a commit. */
export function createCreations({ db, hints, ids, quota }: CreationsContext) {
  const group = createBatcher<NewSession, void>({
    name: 'sessions.creations',
    observer: db.observer,
    run: async (items, options) => {
      if (quota) return db.transaction((tx) => charge(quota, tx, items), options);
      if (items.some(({ upload }) => upload)) await db.transaction((tx) => insert(tx, items), options);
      else await insert(db.within(options), items);
      return items.map(() => undefined);
    },
    sizeOf: (item) => (item.contentJson?.length ?? 0) + 1_000,
    keyOf: (item) => item.sessionId,
    ownerOf: (item) => item.ownerId,
    maxItems: 128,
    maxBytes: 16 * 1024 * 1024,
  });

  /** In a transaction if a session begins with an upload. */
  async function insert(session: DatabaseSession, items: NewSession[]): Promise<void> {
    const created = items.map((item): CreatedRows => {
      const { drafts, newTurn, status } = initialize(item);
      const row = compose(item.sessionId, 0, drafts, ids, item.createdAt);
      return { session: item, newTurn, status, row };
    });
    const signalled = items.filter(({ hasSignals }) => hasSignals).map(({ sessionId }) => sessionId);
    const [create, more] = signalled.length === 0 ? [CREATE, []] : [CREATE_SIGNALLED, [signalled]];
    const rows = await session.rows<{ session_id: string }>(create, [...ROWS.values(created), ...more]);
    for (const { sessionId, upload } of items)
      if (upload && rows.some((row) => row.session_id === sessionId))
        await sessionEnvironments.setFilesSeq(session, sessionId, upload.seq);
  }

  /** Refuses the sessions whose first turn would exceed the daily quota of their owner, and creates the others. */
  async function charge(
    quota: TurnQuota,
    tx: DatabaseSession,
    items: NewSession[],
  ): Promise<(Refusal | undefined)[]> {
    const sessionIds = items.map(({ sessionId }) => sessionId);
    const rows = await tx.rows<{ session_id: string }>(EXISTING, [sessionIds]);
    const existing = new Set(rows.map((row) => row.session_id));
    const queuing = items.filter((item) => item.contentJson !== undefined && !existing.has(item.sessionId));
    const now = queuing[0]?.createdAt;
    if (!now) {
      await insert(tx, items);
      return items.map(() => undefined);
    }
    const refusals = await quota.consume(
      tx,
      queuing.map(({ ownerId }) => ownerId),
      now,
    );
    const refused = new Map(queuing.map((item, index) => [item, refusals[index]]));
    const others = items.filter((item) => !refused.get(item));
    if (others.length > 0) await insert(tx, others);
    return items.map((item) => refused.get(item));
  }

  async function chargeOne(quota: TurnQuota, tx: DatabaseSession, item: NewSession): Promise<void> {
    const [refusal] = await charge(quota, tx, [item]);
    if (refusal) throw refusal;
  }

  function hint(item: NewSession): void {
    if (item.contentJson === undefined) return;
    hints.ready();
    if (item.hasSignals) hints.signalled();
  }

  return {
    async create(item: NewSession, options?: SubmitOptions): Promise<void> {
      await group.submit(item, options);
      hint(item);
    },
    /** The stored answer of an earlier request with the key. */
    answerTo: (key: IdempotencyKey, options?: ReadOptions) => findAnswer(db, key, options),
    /** Creates at most once per key. A later request with the key gets `answer`. */
    async createOnce(
      item: NewSession,
      key: IdempotencyKey,
      answer: Uint8Array,
      options?: WriteOptions,
    ): Promise<IdempotentAnswer> {
      const create = async (tx: DatabaseSession) => {
        if (quota) await chargeOne(quota, tx, item);
        else await insert(tx, [item]);
        return answer;
      };
      const outcome = await runOnce(db, key, create, options);
      if (!outcome.replayed) hint(item);
      return outcome;
    },
  };
}
