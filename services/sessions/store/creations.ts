import { type Database, type Session, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { createGroup } from '../../../lib/db/group.ts';
import { type IdempotencyKey, type OnceAnswer, once } from '../../../lib/db/idempotency.ts';
import type { Refusal } from '../../../lib/errors.ts';
import type { Ids } from '../../../lib/ids.ts';
import { type Beginning, begin } from '../domain/begin.ts';
import type { NewTurn } from '../domain/change.ts';
import type { SessionStatus } from '../domain/state.ts';
import { columns, joined, TEXTS, type Value } from './columns.ts';
import type { Hints } from './hints.ts';
import { compose, type Entry } from './journal.ts';
import type { TurnQuota } from './quota.ts';

/** All rows of any number of new sessions. A session that exists already is left as it is. */
const CREATE = statement(
  'sessions.create',
  `with
   made as (
     insert into sessions (session_id, owner_id, agent_id, agent_version, deployment_id, title, metadata, body_bytes,
                           source_address, created_at)
     select unnest($2::text[]), unnest($3::text[]), unnest($4::text[]), unnest($5::integer[]), unnest($6::text[]),
       unnest($7::text[]), unnest($8::json[]), unnest($9::bigint[]), unnest($10::text[]), unnest($18::timestamptz[])
     on conflict (session_id) do nothing
     returning session_id
   ),
   head as (
     insert into heads (session_id, last_seq, status, queued_turns, updated_at)
     select session_id, last_seq, status, case when turn_id is null then 0 else 1 end, created_at
     from (
       select unnest($2::text[]) as session_id, unnest($11::bigint[]) as last_seq, unnest($12::text[]) as status,
         unnest($15::text[]) as turn_id, unnest($18::timestamptz[]) as created_at
     ) i
     join made using (session_id)
   ),
   appended as (
     insert into journal (session_id, first_seq, last_seq, types, bytes, events)
     select session_id, 1, last_seq, string_to_array(types, '|'), bytes, events
     from (
       select unnest($2::text[]) as session_id, unnest($11::bigint[]) as last_seq, unnest($13::text[]) as types,
         unnest($14::integer[]) as bytes, unnest(${TEXTS('$1')}) as events
     ) i
     join made using (session_id)
   ),
   queued as (
     insert into turns (session_id, position, turn_id, owner_id, agent_id, agent_version, priority, status, ready,
                        traceparent, created_at)
     select session_id, 2, turn_id, owner_id, agent_id, agent_version, priority, 'queued', true, traceparent, created_at
     from (
       select unnest($2::text[]) as session_id, unnest($15::text[]) as turn_id, unnest($3::text[]) as owner_id,
         unnest($4::text[]) as agent_id, unnest($5::integer[]) as agent_version, unnest($16::smallint[]) as priority,
         unnest($17::text[]) as traceparent, unnest($18::timestamptz[]) as created_at
     ) i
     join made using (session_id)
     where turn_id is not null
   )
   select session_id from made`,
);

/** An invocation that is tried again has queued its turn already. */
const THERE = statement(
  'sessions.there',
  'select session_id from sessions where session_id = any ($1::text[])',
);

export type Creations = ReturnType<typeof createCreations>;

export interface CreationsContext {
  db: Database;
  hints: Hints;
  ids: Ids;
  /** Undefined: as many turns as they like. */
  quota: TurnQuota | undefined;
}

/** Creates sessions, with their first turn when they have a message. Those that arrive together share a commit. */
export function createCreations({ db, hints, ids, quota }: CreationsContext) {
  const group = createGroup<Beginning, void>({
    name: 'sessions.creations',
    watch: db.watch,
    run: async (items, options) => {
      if (quota) return db.transaction((tx) => charge(quota, tx, items), options);
      await insert(db.within(options), items);
      return items.map(() => undefined);
    },
    sizeOf: (item) => (item.contentJson?.length ?? 0) + 1_000,
    keyOf: (item) => item.sessionId,
    maxItems: 128,
    maxBytes: 16 * 1024 * 1024,
  });

  async function insert(session: Session, items: Beginning[]): Promise<void> {
    const beginnings = items.map((item) => {
      const { drafts, newTurn, status } = begin(item);
      return { item, newTurn, status, entry: compose(item.sessionId, 0, drafts, ids, item.createdAt) };
    });
    const texts = joined(beginnings.map(({ entry }) => entry.events));
    await session.rows(CREATE, [texts, ...columns(beginnings, rowOf, WIDTH)]);
  }

  /** Of whoever has no turn left for today, no session is made that would need one. */
  async function charge(quota: TurnQuota, tx: Session, items: Beginning[]): Promise<(Refusal | undefined)[]> {
    const there = await tx.rows<{ session_id: string }>(THERE, [items.map(({ sessionId }) => sessionId)]);
    const known = new Set(there.map((row) => row.session_id));
    const queuing = items.filter((item) => item.contentJson !== undefined && !known.has(item.sessionId));
    const now = queuing[0]?.createdAt;
    if (!now) {
      await insert(tx, items);
      return items.map(() => undefined);
    }
    const refusals = await quota.take(
      tx,
      queuing.map(({ ownerId }) => ownerId),
      now,
    );
    const refused = new Map(queuing.map((item, index) => [item, refusals[index]]));
    const others = items.filter((item) => !refused.get(item));
    if (others.length > 0) await insert(tx, others);
    return items.map((item) => refused.get(item));
  }

  async function chargeOne(quota: TurnQuota, tx: Session, item: Beginning): Promise<void> {
    const [refusal] = await charge(quota, tx, [item]);
    if (refusal) throw refusal;
  }

  function hint(item: Beginning): void {
    if (item.contentJson !== undefined) hints.ready();
  }

  return {
    async create(item: Beginning, options?: WriteOptions): Promise<void> {
      await group.submit(item, options);
      hint(item);
    },
    /** The same at most once per key; `answer` is what a later request with the key gets. */
    async createOnce(
      item: Beginning,
      key: IdempotencyKey,
      answer: Uint8Array,
      options?: WriteOptions,
    ): Promise<OnceAnswer> {
      const create = async (tx: Session) => {
        if (quota) await chargeOne(quota, tx, item);
        else await insert(tx, [item]);
        return answer;
      };
      const outcome = await once(db, key, create, options);
      if (!outcome.replayed) hint(item);
      return outcome;
    },
  };
}

interface BegunSession {
  item: Beginning;
  newTurn: NewTurn | undefined;
  status: SessionStatus;
  entry: Entry;
}

const WIDTH = 17;

function rowOf({ item, newTurn, status, entry }: BegunSession): Value[] {
  return [
    item.sessionId,
    item.ownerId,
    item.agentId,
    item.agentVersion,
    item.deploymentId ?? null,
    item.title ?? null,
    JSON.stringify(item.metadata),
    item.bodyBytes ?? null,
    item.sourceAddress ?? null,
    entry.lastSeq,
    status,
    entry.types.join('|'),
    entry.bytes,
    newTurn?.turnId ?? null,
    item.priority,
    item.traceparent ?? null,
    item.createdAt,
  ];
}
