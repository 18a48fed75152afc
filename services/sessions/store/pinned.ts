import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import { NOTHING_PINNED, type PinnedTotal } from '../domain/pinned.ts';

/** A removed message is not in the history, so it does not count. */
const PINNED = statement(
  'sessions.pinned_messages',
  `select s.copied_pinned_messages + count(t.pinned_bytes)::integer as messages,
     s.copied_pinned_bytes + coalesce(sum(t.pinned_bytes), 0)::integer as bytes
   from sessions s
   left join turns t on t.session_id = s.session_id and t.pinned_bytes is not null and not t.removed
   where s.session_id = $1 group by s.session_id`,
);

/** Reads under the lock of the head how many pinned messages a session has. */
export async function readPinned(tx: DatabaseSession, sessionId: string): Promise<PinnedTotal> {
  const [total] = await tx.rows<PinnedTotal>(PINNED, [sessionId]);
  return total ?? NOTHING_PINNED;
}
