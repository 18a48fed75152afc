import { decodeCursor, encodeCursor, type RowPage } from '../../../lib/db/cursor.ts';
import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';
import type { ClosedClientCall, NewClientCall } from '../domain/change.ts';
import type { SessionState } from '../domain/state.ts';
import type { PageRequest } from './lists.ts';

export interface ClientCallRow {
  event_id: string;
  session_id: string;
  turn_id: string;
  tool_use_id: string;
  kind: string;
  name: string;
  /** JSON text. */
  input: string;
  status: string;
  /** JSON text. */
  output: string | null;
  is_error: boolean | null;
  answered_by: string | null;
  /** Null for results without image and file parts. */
  request_sha256: string | null;
  created_at: Date;
  expires_at: Date;
  closed_at: Date | null;
}

const COLUMNS = `event_id, session_id, turn_id, tool_use_id, kind, name, input, status, output, is_error, answered_by,
  request_sha256, created_at, expires_at, closed_at`;

/** The approximate limit for the text of a page, which may end before its row limit. */
const PAGE_BYTES = 4 * 1024 * 1024;

const OPEN = statement(
  'sessions.open_client_call',
  `insert into client_calls (event_id, session_id, turn_id, tool_use_id, kind, name, input, created_at, expires_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
);

const CLOSE = statement(
  'sessions.close_client_call',
  `update client_calls set status = $3, output = $4, is_error = $5, answered_by = $6, request_sha256 = $7, closed_at = $8
   where event_id = $1 and session_id = $2 and status = 'pending'`,
);

/** Writes new and closed calls in the transaction of the change that opens or closes them. */
export async function writeClientCalls(
  tx: DatabaseSession,
  { sessionId }: SessionState,
  opened: readonly NewClientCall[],
  closed: readonly ClosedClientCall[],
  now: Date,
): Promise<void> {
  for (const { eventId, turnId, toolUseId, kind, name, inputJson, expiresAt } of opened)
    await tx.change(OPEN, [eventId, sessionId, turnId, toolUseId, kind, name, inputJson, now, expiresAt]);
  for (const { eventId, status, answer } of closed) {
    const result = [answer?.outputJson ?? null, answer?.isError ?? null, answer?.answeredBy ?? null];
    await tx.change(CLOSE, [eventId, sessionId, status, ...result, answer?.requestSha256 ?? null, now]);
  }
}

/** A model can use an id again in a later turn. */
const NEWEST = statement(
  'sessions.newest_client_call',
  `select ${COLUMNS} from client_calls
   where session_id = $1 and left(tool_use_id, 100) = left($2, 100) and tool_use_id = $2
   order by event_id desc limit 1`,
);

/** `more`: there are further rows behind the page, which ends before its limit when its texts are long. */
const OF_SESSION = statement(
  'sessions.client_calls_of_session',
  `with page as (
     select ${COLUMNS}, row_number() over newest as place,
       sum(octet_length(input) + coalesce(octet_length(output), 0)) over newest as bytes, count(*) over () as found
     from (
       select ${COLUMNS} from client_calls
       where session_id = $1 and event_id < $2 and ($4 = '' or status = $4) order by event_id desc limit $3 + 1
     ) newer
     window newest as (order by event_id desc)
   )
   select ${COLUMNS}, found > place as more from page
   where place <= $3 and (place = 1 or bytes <= $5) order by event_id desc`,
);

const EXPIRED = statement(
  'sessions.expired_client_calls',
  `select event_id, session_id from client_calls where status = 'pending' and expires_at <= $1
   order by expires_at limit $2`,
);

/** Sorts after every event id. */
const END = 'evt_~';

export type ClientCalls = ReturnType<typeof createClientCalls>;

/** Reads the calls that clients and people answer. */
export function createClientCalls(db: Database) {
  return {
    /** The newest call of the session with this id. */
    async newest(
      sessionId: string,
      toolUseId: string,
      options?: ReadOptions,
    ): Promise<ClientCallRow | undefined> {
      const [row] = await db.rows<ClientCallRow>(NEWEST, [sessionId, toolUseId], options);
      return row;
    },
    /** A page of the calls of a session, newest first. An empty `status` is every status. */
    async page(
      sessionId: string,
      status: string,
      page: PageRequest,
      options?: ReadOptions,
    ): Promise<RowPage<ClientCallRow>> {
      const scope = ['client_calls', sessionId, status];
      const before = decodeCursor(scope, page.cursor) ?? END;
      const rows = await db.rows<ClientCallRow & { more: boolean }>(
        OF_SESSION,
        [sessionId, before, page.limit, status, PAGE_BYTES],
        options,
      );
      const last = rows.at(-1);
      return { rows, nextCursor: last?.more ? encodeCursor(scope, last.event_id) : '' };
    },
    /** Pending calls whose time is over. */
    async expired(now: Date, limit: number): Promise<{ eventId: string; sessionId: string }[]> {
      const rows = await db.rows<{ event_id: string; session_id: string }>(EXPIRED, [now, limit]);
      return rows.map((row) => ({ eventId: row.event_id, sessionId: row.session_id }));
    },
  };
}
