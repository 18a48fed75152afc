import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import type { SessionState, TurnState } from '../domain/state.ts';
import type { Delivery } from '../domain/steering.ts';
import { TURN_COLUMNS, type TurnRow, turnOf } from './state.ts';

/**
 * The queued messages that steer turn $3, and older steered ones of the queue: those were for a turn that ended before it got
 * them, and steered messages are delivered in their order.
 */
const WAITING = statement(
  'sessions.steered_messages',
  `select ${TURN_COLUMNS} from turns t
   where t.owner_id = $1 and t.session_id = $2 and t.finished_at is null and t.status = 'queued' and t.attempt = 0
     and t.steers_turn_id is not null and t.position <= (
       select max(q.position) from turns q
       where q.owner_id = $1 and q.session_id = $2 and q.finished_at is null and q.status = 'queued'
         and q.steers_turn_id = $3
     )
   order by t.position`,
);

const MARK_DELIVERED = statement(
  'sessions.mark_delivered',
  `update turns t set steers_turn_id = $2, delivered_seq = i.delivered_seq
   from (select unnest($3::bigint[]) as position, unnest($4::bigint[]) as delivered_seq) i
   where t.session_id = $1 and t.position = i.position`,
);

/** Reads under the lock of the head the turns whose messages wait for a turn, in the order of the queue. */
export async function readWaitingMessages(
  tx: DatabaseSession,
  { sessionId, ownerId }: SessionState,
  turnId: string,
): Promise<TurnState[]> {
  return (await tx.rows<TurnRow>(WAITING, [ownerId, sessionId, turnId])).map(turnOf);
}

/** Records where messages were delivered, so that the history has them there. */
export async function markDelivered(
  tx: DatabaseSession,
  sessionId: string,
  turnId: string,
  deliveries: readonly Delivery[],
): Promise<void> {
  const positions = deliveries.map(({ position }) => position);
  const seqs = deliveries.map(({ deliveredSeq }) => deliveredSeq);
  await tx.change(MARK_DELIVERED, [sessionId, turnId, positions, seqs]);
}
