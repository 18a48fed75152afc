import { type Database, type ReadOptions, statement, type WriteOptions } from '../../../lib/db/database.ts';
import type { Signal, TurnSummary } from '../domain/signals.ts';

/** A signal that was claimed. */
export interface ClaimedSignal extends Signal {
  /** Decimal digits. It grows with the time of the signal. */
  signalId: string;
  createdAt: Date;
}

type ClaimedRow = Omit<ClaimedSignal, 'turn'> & { [Column in keyof TurnSummary]: TurnSummary[Column] | null };

/** The ids are an array, so that the update reads the index for every limit. */
const CLAIM = statement(
  'sessions.claim_signals',
  `with claimed as (
     update signals set claimed_until = $3
     where signal_id = any (array(
       select signal_id from signals where claimed_until is null or claimed_until <= $1
       order by signal_id limit $2 for update skip locked
     ))
     returning *
   )
   select signal_id::text as "signalId", kind, session_id as "sessionId", turn_id as "turnId", turn_status as status,
     stop_reason as "stopReasonJson", usage as "usageJson", error as "errorJson", started_at as "startedAt",
     finished_at as "finishedAt", approval_id as "approvalId", created_at as "createdAt"
   from claimed order by signal_id`,
);

/** Locks in the order of the ids, so that two statements never deadlock. */
const ACKNOWLEDGE = statement(
  'sessions.acknowledge_signals',
  `delete from signals where signal_id = any (array(
     select signal_id from signals where signal_id = any ($1::bigint[]) order by signal_id for update
   ))`,
);

const DELETE_OLD = statement(
  'sessions.delete_old_signals',
  `delete from signals where signal_id = any (array(
     select signal_id from (select signal_id, created_at from signals order by signal_id limit $2) oldest
     where created_at < $1
   ))`,
);

export type SignalStore = ReturnType<typeof createSignalStore>;

/** Hands out the signals that the changes of sessions have written. */
export function createSignalStore(db: Database) {
  return {
    /** Leases up to `limit` signals that no caller has claimed, or whose lease has ended, oldest first. */
    async claim(
      { now, until, limit }: { now: Date; until: Date; limit: number },
      options?: ReadOptions,
    ): Promise<ClaimedSignal[]> {
      return (await db.rows<ClaimedRow>(CLAIM, [now, limit, until], options)).map(signalOf);
    },
    async acknowledge(signalIds: readonly string[], options?: WriteOptions): Promise<void> {
      await db.change(ACKNOWLEDGE, [signalIds], options);
    },
    /** Deletes those of the `limit` oldest signals that are older than a time. Returns how many. */
    deleteOld(before: Date, limit: number): Promise<number> {
      return db.change(DELETE_OLD, [before, limit]);
    },
  };
}

function signalOf({ signalId, kind, sessionId, approvalId, createdAt, ...turn }: ClaimedRow): ClaimedSignal {
  return { signalId, kind, sessionId, approvalId, createdAt, turn: isTurn(turn) ? turn : undefined };
}

/** Both columns have a value or none has. */
function isTurn(
  turn: Pick<ClaimedRow, keyof TurnSummary>,
): turn is Pick<ClaimedRow, keyof TurnSummary> & TurnSummary {
  return turn.turnId !== null && turn.status !== null;
}
