import { type DatabaseSession, statement } from '../../../lib/db/database.ts';
import { type InterruptContext, NO_INTERRUPT_CONTEXT } from '../domain/interrupt.ts';
import type { QueuedTurn, SessionState, TurnState } from '../domain/state.ts';
import { splitRow } from './journal.ts';
import { TURN_COLUMNS, type TurnRow, turnOf } from './state.ts';

/** The events of the current model step, from the report in which it started. */
const STEP = statement(
  'sessions.step_under_way',
  `select first_seq, types, events from journal
   where session_id = $1 and last_seq > $2 and types && array['agent.message_delta', 'model.request_started']
   order by last_seq`,
);

const FIRST_QUEUED = statement(
  'sessions.front_of_queue',
  `select ${TURN_COLUMNS} from turns t
   where t.owner_id = $1 and t.session_id = $2 and t.finished_at is null and t.status = 'queued'
   order by t.position limit 2`,
);

const QUEUED_TURN = statement(
  'sessions.queued_turn',
  `select ${TURN_COLUMNS} from turns t
   where t.owner_id = $1 and t.session_id = $2 and t.finished_at is null and t.turn_id = $3`,
);

const MARK_REMOVED = statement(
  'sessions.mark_removed',
  'update turns set removed = true where session_id = $1 and position = $2',
);

const TURN_EXISTS = statement(
  'sessions.turn_exists',
  'select from turns where session_id = $1 and turn_id = $2',
);

/**
 * Reads under the lock of the head an unfinished turn and the second turn of the queue. `turn` is undefined when the
 * session has no such unfinished turn.
 */
export async function readQueuedTurn(
  tx: DatabaseSession,
  { sessionId, ownerId }: SessionState,
  turnId: string,
): Promise<{ turn: TurnState | undefined; second: QueuedTurn | undefined }> {
  const [row] = await tx.rows<TurnRow>(QUEUED_TURN, [ownerId, sessionId, turnId]);
  const [, second] = await tx.rows<TurnRow>(FIRST_QUEUED, [ownerId, sessionId]);
  return { turn: row && turnOf(row), second: second && turnOf(second) };
}

/** Marks a turn as removed, so that later turns do not get its message. */
export async function markRemoved(
  tx: DatabaseSession,
  { sessionId }: SessionState,
  { position }: TurnState,
): Promise<void> {
  await tx.change(MARK_REMOVED, [sessionId, position]);
}

/** Returns whether the session has the turn, finished or not. Reads in the transaction, which already has a connection. */
export async function hasTurn(
  tx: DatabaseSession,
  { sessionId }: SessionState,
  turnId: string,
): Promise<boolean> {
  return (await tx.rows(TURN_EXISTS, [sessionId, turnId])).length > 0;
}

/** Reads under the lock of the head what an interrupt of the session's turn needs. */
export async function readInterruptContext(
  tx: DatabaseSession,
  state: SessionState,
): Promise<InterruptContext> {
  const { current, sessionId, ownerId, queuedTurns } = state;
  if (current) return { ...NO_INTERRUPT_CONTEXT, partial: await partialOf(tx, state) };
  const rows = queuedTurns === 0 ? [] : await tx.rows<TurnRow>(FIRST_QUEUED, [ownerId, sessionId]);
  const [waiting, behind] = rows.map(turnOf);
  return { ...NO_INTERRUPT_CONTEXT, waiting, behind };
}

async function partialOf(
  tx: DatabaseSession,
  { sessionId, current }: SessionState,
): Promise<InterruptContext['partial']> {
  if (!current || current.openMessageId === null || current.stepAfter === null) return undefined;
  const rows = await tx.rows<{ first_seq: number; types: string[]; events: string }>(STEP, [
    sessionId,
    current.stepAfter,
  ]);
  const partial = { model: '', text: '' };
  for (const row of rows) {
    for (const { type, json } of splitRow({
      firstSeq: row.first_seq,
      types: row.types,
      events: row.events,
    })) {
      if (type !== 'agent.message_delta' && type !== 'model.request_started') continue;
      const { data } = JSON.parse(json) as { data: { model?: string; message_id?: string; delta?: string } };
      if (type === 'model.request_started') partial.model = data.model ?? '';
      else if (data.message_id === current.openMessageId) partial.text += data.delta ?? '';
    }
  }
  return partial;
}
