import { type Database, statement } from '../../../lib/db/database.ts';
import type { SessionUpdate } from './changes.ts';

const AMEND = statement(
  'sessions.amend',
  'update sessions set title = $2, metadata = $3 where session_id = $1',
);
const ARCHIVE = statement('sessions.archive', 'update sessions set archived_at = $2 where session_id = $1');
const DELETE = statement('sessions.delete', 'update sessions set deleted_at = $2 where session_id = $1');

export function amendment(sessionId: string, title: string | null, metadataJson: string): SessionUpdate {
  return { statement: AMEND, values: [sessionId, title, metadataJson] };
}

export function archival(sessionId: string, now: Date): SessionUpdate {
  return { statement: ARCHIVE, values: [sessionId, now] };
}

export function deletion(sessionId: string, now: Date): SessionUpdate {
  return { statement: DELETE, values: [sessionId, now] };
}

const TITLE = statement(
  'sessions.title',
  'update sessions set title = $2 where session_id = $1 and title is null',
);
const PIN = statement('sessions.pin_version', 'update sessions set agent_version = $2 where session_id = $1');

export function titling(sessionId: string, title: string): SessionUpdate {
  return { statement: TITLE, values: [sessionId, title] };
}

export function pinning(sessionId: string, version: number): SessionUpdate {
  return { statement: PIN, values: [sessionId, version] };
}

/** In the text, so that the planner knows how few they are. */
const PURGED_AT_ONCE = 100;

const PURGE = statement(
  'sessions.purge',
  `with gone as (
     select session_id from sessions
     where deleted_at < $1 and purged_at is null order by deleted_at limit ${PURGED_AT_ONCE} for update skip locked
   ),
   journal_rows as (delete from journal j using gone where j.session_id = gone.session_id),
   approval_rows as (delete from approvals a using gone where a.session_id = gone.session_id),
   turn_rows as (delete from turns t using gone where t.session_id = gone.session_id),
   head_rows as (delete from heads h using gone where h.session_id = gone.session_id),
   kept as (
     update sessions s set title = null, metadata = '{}', purged_at = $2
     from gone where s.session_id = gone.session_id and s.deployment_id is not null
   )
   delete from sessions s using gone where s.session_id = gone.session_id and s.deployment_id is null`,
);

export type Eraser = ReturnType<typeof createEraser>;

/** Erases, a bounded number at a time, the content of sessions that were deleted long enough ago. */
export function createEraser(db: Database) {
  return {
    async purge(deletedBefore: Date, now: Date): Promise<void> {
      await db.change(PURGE, [deletedBefore, now]);
    },
  };
}
