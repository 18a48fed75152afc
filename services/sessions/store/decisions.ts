import type { DatabaseSession, Statement } from '../../../lib/db/database.ts';
import type { Change } from '../domain/change.ts';
import type { InterruptContext } from '../domain/interrupt.ts';
import type { SessionState } from '../domain/state.ts';

/** A seldom written part of the session that changes in the same transaction. */
export interface ColumnUpdate {
  statement: Statement;
  values: readonly unknown[];
}

interface ChangeDecision {
  change: Change;
  update?: ColumnUpdate;
}

/**
 * Decides on a change of a session, or refuses. The state is undefined when there is no such session. Runs again when
 * the transaction is repeated.
 */
export type DecideChange = (state: SessionState | undefined) => ChangeDecision;

/** Decides on a change that may interrupt the session's turn. */
export type DecideInterrupt = (state: SessionState | undefined, context: InterruptContext) => ChangeDecision;

/** Decides with further reads and writes in the transaction. Undefined leaves the session as it is. */
export type DecideInTransaction = (
  state: SessionState | undefined,
  tx: DatabaseSession,
) => Promise<Change | undefined>;

export interface ChangeRequest {
  sessionId: string;
  decide: DecideInterrupt;
  /** About how many bytes the change will write. */
  bytes: number;
  /** The decision needs an `InterruptContext`, which is read first. */
  mayInterrupt?: boolean;
}
