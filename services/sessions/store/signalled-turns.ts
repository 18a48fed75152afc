import {
  type Database,
  type DatabaseSession,
  type ReadOptions,
  statement,
} from '../../../lib/db/database.ts';
import { summaryOf, type TurnSummary } from '../domain/signals.ts';
import { TURN_COLUMNS, type TurnRow, turnOf } from './state.ts';

/* Turns that were queued while their session wrote signals. They are found by their id alone. */

/** A turn that is queued already. */
export interface FoundTurn {
  /** The seq of the event that queued it. */
  seq: number;
}

const LOCK_ID = statement('sessions.lock_turn_id', 'select pg_advisory_xact_lock(hashtextextended($1, 0))');

/** A join with all sessions that are not deleted would look cheap to the planner as long as the table is new. */
const IS_KEPT = '(select s.deleted_at is null from sessions s where s.session_id = t.session_id)';

const FIND = statement(
  'sessions.find_signalled_turn',
  `select t.position as seq from turns t
   where t.has_signals and t.turn_id = $1 and ${IS_KEPT}`,
);

const LOOK_UP = statement(
  'sessions.look_up_turns',
  `select t.session_id, case t.status when 'blocked' then h.stop_reason else t.stop_reason end as stop_reason, ${TURN_COLUMNS}
   from turns t join heads h using (session_id)
   where t.has_signals and t.turn_id = any ($1::text[]) and ${IS_KEPT}`,
);

/** Keeps other transactions from queuing a turn with this id, also in another session. Taken before the head is locked. */
export async function lockTurnId(tx: DatabaseSession, turnId: string): Promise<void> {
  await tx.rows(LOCK_ID, [turnId]);
}

/** Finds a turn in any session. The transaction has locked its id. */
export async function findSignalledTurn(tx: DatabaseSession, turnId: string): Promise<FoundTurn | undefined> {
  const [found] = await tx.rows<FoundTurn>(FIND, [turnId]);
  return found;
}

export interface SummaryInSession {
  sessionId: string;
  turn: TurnSummary;
}

export type SignalledTurns = ReturnType<typeof createSignalledTurns>;

export function createSignalledTurns(db: Database) {
  return {
    /** Finds a turn in any session that is not deleted. */
    async find(turnId: string, options?: ReadOptions): Promise<FoundTurn | undefined> {
      const [found] = await db.rows<FoundTurn>(FIND, [turnId], options);
      return found;
    },
    /** The states of those of these turns that exist, in sessions of any owner that are not deleted. */
    async lookUp(turnIds: readonly string[], options?: ReadOptions): Promise<SummaryInSession[]> {
      type Row = TurnRow & { session_id: string; stop_reason: string | null };
      const rows = await db.rows<Row>(LOOK_UP, [turnIds], options);
      return rows.map((row) => ({
        sessionId: row.session_id,
        turn: summaryOf(turnOf(row), row.stop_reason ?? missingStopReason(row)),
      }));
    },
  };
}

/** Instances of a release without signals end turns without this column. */
function missingStopReason({ finished_at: finishedAt, turn_status: status }: TurnRow): string | null {
  if (finishedAt === null) return null;
  const type = status === 'completed' ? 'end_turn' : status === 'failed' ? 'failed' : 'interrupted';
  return JSON.stringify({ type });
}
