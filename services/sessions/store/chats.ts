import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';

/* Which session and turn the keys of chats stand for. Keys of deleted sessions are unknown. */

export interface ChatKey {
  /** usr_… */
  ownerId: string;
  /** A SHA-256 digest. */
  key: Buffer;
}

export interface RecordedChat {
  key: Buffer;
  sessionId: string;
  turnId: string;
  agentId: string;
}

/** A chat that goes on. */
export interface ContinuedChat extends RecordedChat {
  /** The key is the first one, and this request has claimed it. */
  isClaimed: boolean;
}

const RECORD = statement(
  'sessions.record_chat',
  `insert into chat_prefixes (owner_id, key, session_id, turn_id, created_at) values ($1, $2, $3, $4, $5)
   on conflict (owner_id, key) do update
   set session_id = excluded.session_id, turn_id = excluded.turn_id, claimed_by = null, created_at = excluded.created_at`,
);

const COLUMNS = 'p.key, p.session_id as "sessionId", p.turn_id as "turnId", s.agent_id as "agentId"';

const FIND = statement(
  'sessions.find_chat',
  `select ${COLUMNS} from chat_prefixes p join sessions s using (session_id)
   where p.owner_id = $1 and p.key = $2 and s.owner_id = $1 and s.deleted_at is null`,
);

/**
 * Claims the record of a key unless another request has, or the session has a later turn or is archived. The row lock makes
 * one of two simultaneous requests wait for the other.
 */
const CLAIM = statement(
  'sessions.claim_chat',
  `update chat_prefixes p set claimed_by = $3
   from sessions s
   where p.owner_id = $1 and p.key = $2
     and s.session_id = p.session_id and s.owner_id = $1 and s.deleted_at is null
     and (p.claimed_by = $3 or (p.claimed_by is null and s.archived_at is null
       and not exists (
         select from turns later where later.session_id = p.session_id and later.position > (
           select position from turns t where t.session_id = p.session_id and t.turn_id = p.turn_id
         )
       )))
   returning ${COLUMNS}`,
);

/**
 * The first key that is known. The limit in each lookup keeps the planner, which cannot know how many keys there are, from
 * reading all records of the owner.
 */
const FIND_FIRST = statement(
  'sessions.find_first_chat',
  `select found.* from unnest($2::bytea[]) with ordinality k (key, position)
     cross join lateral (
       select ${COLUMNS} from chat_prefixes p join sessions s using (session_id)
       where p.owner_id = $1 and p.key = k.key and s.owner_id = $1 and s.deleted_at is null
       limit 1
     ) found
   order by k.position limit 1`,
);

/** The end of the turn: its last event and those of the session's status that were appended with it. */
const END_OF_TURN = statement(
  'sessions.end_of_turn',
  `select j.last_seq as seq from turns t join journal j using (session_id)
   where t.session_id = $1 and t.turn_id = $2 and t.finished_at is not null and j.last_seq > t.position
     and j.types && array['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled']
     and exists (
       select from json_array_elements(j.events::json) e
       where e ->> 'turn_id' = $2
         and e ->> 'type' in ('turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled')
     )
   order by j.last_seq limit 1`,
);

const FORGET = statement(
  'sessions.forget_chat',
  `update chat_prefixes set session_id = null, turn_id = null, claimed_by = null
   where owner_id = $1 and key = $2 and session_id is not null`,
);

const DELETE_OLD = statement(
  'sessions.delete_old_chats',
  `delete from chat_prefixes where ctid = any (array(
     select ctid from chat_prefixes where created_at < $1 order by created_at limit $2
   ))`,
);

export type ChatStore = ReturnType<typeof createChatStore>;

export function createChatStore(db: Database) {
  return {
    /** Replaces an earlier record of the same key. */
    async record(
      { ownerId, key }: ChatKey,
      { sessionId, turnId }: Pick<RecordedChat, 'sessionId' | 'turnId'>,
      now: Date,
      options?: WriteOptions,
    ): Promise<void> {
      await db.change(RECORD, [ownerId, key, sessionId, turnId, now], options);
    },

    async find({ ownerId, key }: ChatKey, options?: ReadOptions): Promise<RecordedChat | undefined> {
      const [found] = await db.rows<RecordedChat>(FIND, [ownerId, key], options);
      return found;
    },

    /** Returns the record of the first key that is known, and claims it if it is the first key. */
    async continue(
      { ownerId, keys, claim }: { ownerId: string; keys: readonly Buffer[]; claim: string },
      options?: WriteOptions,
    ): Promise<ContinuedChat | undefined> {
      // Most chats go on at their end. The statement of one key is planned once.
      const [claimed] = await db.rows<RecordedChat>(CLAIM, [ownerId, keys[0], claim], options);
      if (claimed) return { ...claimed, isClaimed: true };
      const [found] = await db.rows<RecordedChat>(FIND_FIRST, [ownerId, keys], options);
      return found && { ...found, isClaimed: false };
    },

    /** The seq after which the turn has ended. Undefined while it goes on. */
    async endOfTurn(sessionId: string, turnId: string, options?: ReadOptions): Promise<number | undefined> {
      const [found] = await db.rows<{ seq: number }>(END_OF_TURN, [sessionId, turnId], options);
      return found?.seq;
    },

    /** Returns whether the key was known. It stays unknown until the record would have been deleted. */
    async forget({ ownerId, key }: ChatKey, options?: WriteOptions): Promise<boolean> {
      return (await db.change(FORGET, [ownerId, key], options)) > 0;
    },

    /** Deletes at most `limit` of the records from before a time, the oldest first. Returns how many. */
    deleteOld(before: Date, limit: number): Promise<number> {
      return db.change(DELETE_OLD, [before, limit]);
    },
  };
}
