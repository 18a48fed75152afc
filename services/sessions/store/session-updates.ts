import { type Database, statement } from '../../../lib/db/database.ts';
import type { ColumnUpdate } from './decisions.ts';

/** Leaves the columns that are not set as they are: their values are read under the lock of the row. */
const AMEND = statement(
  'sessions.amend',
  `update sessions set title = case when $2::boolean then $3::text else title end, metadata = coalesce($4::json, metadata)
   where session_id = $1`,
);
const ARCHIVE = statement('sessions.archive', 'update sessions set archived_at = $2 where session_id = $1');

/** Sets the given fields: `title` to a text or null, `metadata` to a JSON object as text. */
export function setTitleAndMetadata(
  sessionId: string,
  { title, metadata }: { title?: string | null; metadata?: string },
): ColumnUpdate {
  return { statement: AMEND, values: [sessionId, title !== undefined, title ?? null, metadata ?? null] };
}

export function setArchived(sessionId: string, now: Date): ColumnUpdate {
  return { statement: ARCHIVE, values: [sessionId, now] };
}

const TITLE = statement(
  'sessions.title',
  'update sessions set title = $2 where session_id = $1 and title is null',
);
const PIN = statement('sessions.pin_version', 'update sessions set agent_version = $2 where session_id = $1');

export function setTitleIfMissing(sessionId: string, title: string): ColumnUpdate {
  return { statement: TITLE, values: [sessionId, title] };
}

export function setAgentVersion(sessionId: string, version: number): ColumnUpdate {
  return { statement: PIN, values: [sessionId, version] };
}

const VOID_COMPACTIONS = statement(
  'sessions.void_compactions',
  `update turns set removed = true
   where session_id = $1 and kind = 'compaction' and position > coalesce(
     (select position from turns where session_id = $1 and turn_id = $2), 0
   )`,
);

/**
 * Makes the compactions that followed a turn have no effect on later turns, because they include its answer. A fork has no row
 * for the turns of its history.
 */
export function voidCompactions(sessionId: string, afterTurnId: string): ColumnUpdate {
  return { statement: VOID_COMPACTIONS, values: [sessionId, afterTurnId] };
}

/** A literal in the statement, so that the planner knows the small number of rows. */
const PURGE_BATCH = 100;

const PURGEABLE = statement(
  'sessions.purgeable',
  `select session_id from sessions
   where deleted_at < $1 and purged_at is null order by deleted_at limit ${PURGE_BATCH}`,
);

const PURGE = statement(
  'sessions.purge',
  `with gone as (
     select session_id from sessions where session_id = any($1::text[]) and purged_at is null for update skip locked
   ),
   outcome_rows as (delete from session_outcomes o using gone where o.session_id = gone.session_id),
   environment_rows as (delete from session_environments e using gone where e.session_id = gone.session_id),
   journal_rows as (delete from journal j using gone where j.session_id = gone.session_id),
   approval_rows as (delete from approvals a using gone where a.session_id = gone.session_id),
   call_rows as (delete from client_calls c using gone where c.session_id = gone.session_id),
   turn_rows as (delete from turns t using gone where t.session_id = gone.session_id),
   head_rows as (delete from heads h using gone where h.session_id = gone.session_id),
   kept as (
     update sessions s set title = null, metadata = '{}', purged_at = $2
     from gone where s.session_id = gone.session_id and s.deployment_id is not null
   )
   delete from sessions s using gone where s.session_id = gone.session_id and s.deployment_id is null`,
);

export type Eraser = ReturnType<typeof createEraser>;

/** Erases the content of sessions that were deleted long enough ago. */
export function createEraser(db: Database) {
  return {
    /** Returns up to 100 sessions that were deleted before this time and are not erased yet. */
    async purgeable(deletedBefore: Date): Promise<string[]> {
      const rows = await db.rows<{ session_id: string }>(PURGEABLE, [deletedBefore]);
      return rows.map((row) => row.session_id);
    },
    async purge(sessionIds: readonly string[], now: Date): Promise<void> {
      await db.change(PURGE, [sessionIds, now]);
    },
  };
}
