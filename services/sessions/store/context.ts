import { type Database, type ReadOptions, statement } from '../../../lib/db/database.ts';
import { HISTORY_TYPES } from './event-statements.ts';

/** The oldest of the newest turns of a session: $2 is their number less one. Turns without a message of their own do not count. */
const NEWEST_TURNS_BEGIN = statement(
  'sessions.newest_turns_begin',
  `select t.position from turns t
   where t.session_id = $1 and t.kind is null and not t.removed and t.delivered_seq is null and not exists (
     select from turns r
     where r.session_id = $1 and r.replaces_turn_id is not null and r.replaces_turn_id = t.turn_id
   )
   order by t.position desc offset $2 limit 1`,
);

/** Journal rows of one search. */
const SEARCHED_ROWS = 1_000;

/**
 * Whether one of the first rows behind seq $2 has an event of the history before seq $3, or with $4 a tool result in a row of more
 * than $4 bytes. True if there are more rows than are searched.
 */
const HAS_HISTORY_BETWEEN = statement(
  'sessions.has_history_between',
  `select count(*) = ${SEARCHED_ROWS} or coalesce(bool_or(bytes > $4 and exists (
     select from unnest(types) with ordinality as event (type, number)
     where first_seq + number - 1 > $2 and first_seq + number - 1 < $3
       and case when $4 = 0 then type = any (${HISTORY_TYPES}) else type = 'agent.tool_result' end
   )), false) as found
   from (
     select first_seq, types, bytes from journal
     where session_id = $1 and last_seq > $2 and types && ${HISTORY_TYPES}
     order by last_seq limit ${SEARCHED_ROWS}
   ) searched`,
);

const STORED_CONTEXT = statement(
  'sessions.stored_context',
  'select context from heads where session_id = $1',
);

/** The range of a history in which something may be shortened. */
export interface SearchedRange {
  afterSeq: number;
  beforeSeq: number;
  /** Only results in rows with more bytes count. 0: all events of the history count. */
  largeResultBytes: number;
}

export type ContextStore = ReturnType<typeof createContextStore>;

/** Reads what a model gets of a session, without its history. */
export function createContextStore(db: Pick<Database, 'rows'>) {
  return {
    /** The seq of the message that began the oldest of the newest `count` turns. Undefined for a session with fewer turns. */
    async newestTurnsBegin(
      sessionId: string,
      count: number,
      options?: ReadOptions,
    ): Promise<number | undefined> {
      const [row] = await db.rows<{ position: number }>(NEWEST_TURNS_BEGIN, [sessionId, count - 1], options);
      return row?.position;
    },

    /** Whether the history may have an event in the range. Reads a bounded number of rows. */
    async mayHaveHistory(sessionId: string, range: SearchedRange, options?: ReadOptions): Promise<boolean> {
      const { afterSeq, beforeSeq, largeResultBytes } = range;
      const values = [sessionId, afterSeq, beforeSeq, largeResultBytes];
      const [row] = await db.rows<{ found: boolean }>(HAS_HISTORY_BETWEEN, values, options);
      return row?.found ?? false;
    },

    /** The newest estimate of a model request as JSON text; null without one. */
    async storedContext(sessionId: string, options?: ReadOptions): Promise<string | null> {
      const [row] = await db.rows<{ context: string | null }>(STORED_CONTEXT, [sessionId], options);
      return row?.context ?? null;
    },
  };
}
