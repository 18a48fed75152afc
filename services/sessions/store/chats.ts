import type { SubmitOptions } from '../../../lib/db/batcher.ts';
import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import { createChatClaims } from './chat-claims.ts';
import { createChatRecorder } from './chat-records.ts';
import type { ChatKey, RecordedChat } from './chat-rows.ts';

/** A chat that goes on. */
export interface ContinuedChat extends RecordedChat {
  /** The key is the first one, and this request has claimed it. */
  isClaimed: boolean;
}

/**
 * The record of a key with its session. The limits keep the planner from reading all records or sessions of the owner: it
 * knows neither how many keys there are nor, for a new table, how many rows.
 */
const recordOf = (key: string) => `
  select p.key, p.session_id as "sessionId", p.turn_id as "turnId", s.agent_id as "agentId"
  from (select * from chat_prefixes where owner_id = $1 and key = ${key} limit 1) p
    cross join lateral (
      select owner_id, agent_id, deleted_at from sessions where session_id = p.session_id limit 1
    ) s
  where s.owner_id = $1 and s.deleted_at is null`;

const FIND = statement('sessions.find_chat', recordOf('$2'));

/** The first key that is known. */
const FIND_FIRST = statement(
  'sessions.find_first_chat',
  `select found.* from unnest($2::bytea[]) with ordinality k (key, position)
     cross join lateral (${recordOf('k.key')}) found
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
  const claim = createChatClaims(db);
  return {
    /** Replaces an earlier record of the same key. */
    record: createChatRecorder(db),

    async find({ ownerId, key }: ChatKey, options?: ReadOptions): Promise<RecordedChat | undefined> {
      const [found] = await db.rows<RecordedChat>(FIND, [ownerId, key], options);
      return found;
    },

    /** Returns the record of the first key that is known, and claims it if it is the first key. */
    async continue(
      { ownerId, keys, claim: claimedBy }: { ownerId: string; keys: readonly Buffer[]; claim: string },
      options?: SubmitOptions,
    ): Promise<ContinuedChat | undefined> {
      const [key] = keys;
      if (!key) return undefined;
      // Most chats go on at their end.
      const claimed = await claim({ ownerId, key, claim: claimedBy }, options);
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
