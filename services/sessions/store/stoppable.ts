import { type Session, statement } from '../../../lib/db/database.ts';
import { NOTHING_SEEN, type Stoppable } from '../domain/interrupt.ts';
import type { SessionState } from '../domain/state.ts';
import { split } from './journal.ts';
import { TURN_COLUMNS, type TurnRow, turnOf } from './state.ts';

/** The model step under way, from the report in which it began. */
const STEP = statement(
  'sessions.step_under_way',
  `select first_seq, types, events from journal
   where session_id = $1 and last_seq > $2 and types && array['agent.message_delta', 'model.request_started']
   order by last_seq`,
);

const FRONT = statement(
  'sessions.front_of_queue',
  `select ${TURN_COLUMNS} from turns t
   where t.owner_id = $1 and t.session_id = $2 and t.finished_at is null and t.status = 'queued'
   order by t.position limit 2`,
);

/** Reads, under the lock of the head, what stopping the session's turn needs to know. */
export async function lookUp(tx: Session, state: SessionState): Promise<Stoppable> {
  const { current, sessionId, ownerId, queuedTurns } = state;
  if (current) return { ...NOTHING_SEEN, partial: await partialOf(tx, state) };
  const rows = queuedTurns === 0 ? [] : await tx.rows<TurnRow>(FRONT, [ownerId, sessionId]);
  const [waiting, behind] = rows.map(turnOf);
  return { ...NOTHING_SEEN, waiting, behind };
}

async function partialOf(tx: Session, { sessionId, current }: SessionState): Promise<Stoppable['partial']> {
  if (!current || current.openMessageId === null || current.stepAfter === null) return undefined;
  const rows = await tx.rows<{ first_seq: number; types: string[]; events: string }>(STEP, [
    sessionId,
    current.stepAfter,
  ]);
  const partial = { model: '', text: '' };
  for (const row of rows) {
    for (const { type, json } of split({ firstSeq: row.first_seq, types: row.types, events: row.events })) {
      if (type !== 'agent.message_delta' && type !== 'model.request_started') continue;
      const { data } = JSON.parse(json) as { data: { model?: string; message_id?: string; delta?: string } };
      if (type === 'model.request_started') partial.model = data.model ?? '';
      else if (data.message_id === current.openMessageId) partial.text += data.delta ?? '';
    }
  }
  return partial;
}
