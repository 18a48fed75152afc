import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { QueuedTurn, SessionState } from '../domain/state.ts';

const QUEUED = statement(
  'sessions.queued_turns',
  `select turn_id, position from turns
   where owner_id = $2 and session_id = $1 and finished_at is null and status = 'queued' order by position`,
);
const CANCEL = statement(
  'sessions.cancel_turns',
  `update turns set status = 'cancelled', ready = false, wake_at = null, finished_at = $2
   where owner_id = $3 and session_id = $1 and finished_at is null and status = 'queued'`,
);
const DELETE = statement('sessions.delete', 'update sessions set deleted_at = $2 where session_id = $1');

/** Returns the queued turns of a session in the order of the queue. The transaction has locked its head. */
export async function queuedTurns(
  tx: DatabaseSession,
  { sessionId, ownerId }: SessionState,
): Promise<QueuedTurn[]> {
  const rows = await tx.rows<{ turn_id: string; position: number }>(QUEUED, [sessionId, ownerId]);
  return rows.map((row) => ({ turnId: row.turn_id, position: row.position }));
}

export async function cancelQueuedTurns(
  tx: DatabaseSession,
  { sessionId, ownerId }: SessionState,
  now: Date,
): Promise<void> {
  await tx.change(CANCEL, [sessionId, now, ownerId]);
}

/** Marks the session as deleted. Its content is erased later. */
export async function markDeleted(
  tx: DatabaseSession,
  { sessionId }: SessionState,
  now: Date,
): Promise<void> {
  await tx.change(DELETE, [sessionId, now]);
}
