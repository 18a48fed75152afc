import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { SessionState, TurnState } from '../domain/state.ts';
import { TURN_COLUMNS, type TurnRow, turnOf } from './state.ts';

const QUEUED = statement(
  'sessions.queued_turns',
  `select ${TURN_COLUMNS} from turns t
   where t.owner_id = $2 and t.session_id = $1 and t.finished_at is null and t.status = 'queued' order by t.position`,
);
/** Turns that have started before are interrupted instead. */
const CANCEL = statement(
  'sessions.cancel_turns',
  `update turns set status = 'cancelled', ready = false, wake_at = null, finished_at = $2
   where owner_id = $3 and session_id = $1 and finished_at is null and status = 'queued'
     and attempt = 0`,
);
const DELETE = statement('sessions.delete', 'update sessions set deleted_at = $2 where session_id = $1');

/** Returns the queued turns of a session in the order of the queue. The transaction has locked its head. */
export async function queuedTurns(
  tx: DatabaseSession,
  { sessionId, ownerId }: SessionState,
): Promise<TurnState[]> {
  return (await tx.rows<TurnRow>(QUEUED, [sessionId, ownerId])).map(turnOf);
}

/** Cancels the queued turns that have never started. */
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
