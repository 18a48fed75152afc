import type { DatabaseSession, Statement } from '../../../lib/db/database.ts';
import type { Change } from '../domain/change.ts';
import { type InterruptContext, NO_INTERRUPT_CONTEXT } from '../domain/interrupt.ts';
import { NOTHING_PINNED, type PinnedTotal } from '../domain/pinned.ts';
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

/** What a decision needs beside the state. It is read under the lock of the head. */
export interface DecisionReads {
  /** The decision may interrupt the session's turn. */
  interrupt?: boolean;
  /** The decision may pin a message. */
  pinned?: boolean;
}

/** The result of these reads. Without a read, its member is that of `NO_CONTEXT`. */
export interface DecisionContext {
  interrupt: InterruptContext;
  pinned: PinnedTotal;
}

export const NO_CONTEXT: DecisionContext = { interrupt: NO_INTERRUPT_CONTEXT, pinned: NOTHING_PINNED };

/** Decides on a change with what was read for it. */
export type DecideWithContext = (state: SessionState | undefined, context: DecisionContext) => ChangeDecision;

/** Decides with further reads and writes in the transaction. Undefined leaves the session as it is. */
export type DecideInTransaction = (
  state: SessionState | undefined,
  tx: DatabaseSession,
) => Promise<Change | undefined>;

export interface ChangeRequest {
  sessionId: string;
  decide: DecideWithContext;
  /** About how many bytes the change will write. */
  bytes: number;
  /** Undefined for a decision on the state alone. */
  reads?: DecisionReads;
}
