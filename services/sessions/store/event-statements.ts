import { statement } from '../../../lib/db/database.ts';
import { SESSION_IDS } from './columns.ts';
import { CHANGES_HISTORY, HISTORY_CHANGE } from './history-filter.ts';

/** Maximum size of a page in bytes. A page has at least one row, even if it is larger. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** The history index uses exactly this array. */
export const HISTORY_TYPES = `array['user.message', 'agent.message', 'agent.tool_result']`;

/**
 * Selects up to $3 journal rows of session $1, in the order of their seqs, as long as the rows before have fewer than $4
 * bytes.
 */
function pageStatement(name: string, condition: string, direction: 'asc' | 'desc' = 'asc') {
  return statement(
    name,
    `select first_seq, types, events from (
       select first_seq, last_seq, types, events,
         sum(bytes) over (order by last_seq ${direction}) - bytes as before
       from (
         select * from journal where session_id = $1 and ${condition} order by last_seq ${direction} limit $3
       ) page
     ) sized
     where before < $4 order by last_seq ${direction}`,
  );
}

export const AFTER = pageStatement('sessions.events_after', 'last_seq > $2');

/** $2 is the seq of the newest requested event, which may be inside a row. */
export const UP_TO = pageStatement(
  'sessions.events_up_to',
  `last_seq <= (
     select last_seq from journal where session_id = $1 and last_seq >= $2 order by last_seq limit 1
   )`,
  'desc',
);

export const HISTORY_AFTER = pageStatement(
  'sessions.history_after',
  `last_seq > $2 and types && ${HISTORY_TYPES}`,
);

/** File events. The index of file events uses exactly this array. */
export const FILES_AFTER = pageStatement(
  'sessions.files_after',
  "last_seq > $2 and types && array['files.uploaded', 'file.created', 'file.modified', 'file.deleted']",
);

/** Rows with messages of agents between two seqs; see `lastMessage`. */
export const MESSAGES_AFTER = pageStatement(
  'sessions.messages_after',
  `last_seq > $2 and types && ${HISTORY_TYPES} and 'agent.message' = any (types)`,
);
export const MESSAGES_UP_TO = pageStatement(
  'sessions.messages_up_to',
  `first_seq <= $2 and types && ${HISTORY_TYPES} and 'agent.message' = any (types)`,
  'desc',
);
/** Turns that replace others count if they were queued at $2 or before, and delivered messages if their delivery was. */
export const HISTORY_CHANGES = statement(
  'sessions.history_changes',
  `select ${HISTORY_CHANGE} as change from turns t
   where t.session_id = $1 and ${CHANGES_HISTORY} and (t.removed or coalesce(t.delivered_seq, t.position) <= $2)`,
);

/** Messages that were delivered into turn $2 after $3, in the order of their delivery. */
export const DELIVERED_AFTER = statement(
  'sessions.delivered_after',
  `select t.position as "messageSeq", t.delivered_seq as "deliveredSeq", t.steers_turn_id as "turnId" from turns t
   where t.session_id = $1 and t.delivered_seq is not null and t.steers_turn_id = $2 and t.delivered_seq > $3
   order by t.delivered_seq limit $4`,
);

export const NEWEST_OF_HISTORY = statement(
  'sessions.newest_of_history',
  `select first_seq, types, events from journal
   where session_id = $1 and types && ${HISTORY_TYPES} order by last_seq desc limit 1`,
);

/** The index of compactions uses exactly this array. */
const IS_COMPACTED = `types && array['agent.context_compacted']`;

/** The newest $3 rows with compactions before the seq $2, the newest first. */
export const COMPACTIONS = statement(
  'sessions.compactions',
  `select first_seq, types, events from journal
   where session_id = $1 and ${IS_COMPACTED} and last_seq < $2 order by last_seq desc limit $3`,
);

/** The rows with the events of these seqs. */
export const ROWS_OF = statement(
  'sessions.rows_of',
  `select distinct r.first_seq, r.types, r.events
   from unnest($2::bigint[]) as i (seq) cross join lateral (
     select first_seq, types, events from journal
     where session_id = $1 and last_seq >= i.seq order by last_seq limit 1
   ) r
   order by r.first_seq`,
);

/**
 * The first messages of each session, up to $2 bytes and $3 rows each, and the turns that change its history. A row beyond
 * the bytes has no events. A session with compactions has one row without seq and events.
 */
export const FIRST_MESSAGES = statement(
  'sessions.message_beginnings',
  `select i.session_id, m.first_seq, m.types, case when m.before < $2 then m.events end as events,
     array(select ${HISTORY_CHANGE} from turns t where t.session_id = i.session_id and ${CHANGES_HISTORY}) as changes
   from (
     select session_id, (
       select true from journal j where j.session_id = s.session_id and ${IS_COMPACTED} limit 1
     ) is not null as is_compacted
     from (${SESSION_IDS}) s
   ) i
   left join lateral (
     select session_id, first_seq, last_seq, types, events, sum(bytes) over (order by last_seq) as before
     from (
       select * from journal j
       where j.session_id = i.session_id and types && ${HISTORY_TYPES} and not i.is_compacted
       order by last_seq limit $3
     ) page
   ) m on true
   where m.first_seq is not null or i.is_compacted
   order by i.session_id, m.last_seq`,
);

export const HEADS_AFTER = statement(
  'sessions.heads_after',
  `select h.session_id, h.last_seq
   from unnest($1::text[], $2::bigint[]) i (session_id, seq)
     join heads h on h.session_id = i.session_id and h.last_seq > i.seq`,
);

/** A row of the journal with the events of one append. */
export interface JournalRow {
  first_seq: number;
  types: string[];
  events: string;
}

export interface FirstMessagesRow extends Omit<JournalRow, 'first_seq' | 'events'> {
  session_id: string;
  first_seq: number | null;
  events: string | null;
  changes: string[];
}
