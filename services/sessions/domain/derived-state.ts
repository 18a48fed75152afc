import type { StopReason } from '../../../lib/event-parts.ts';
import { type ActionKind, CLIENT_CALL_KINDS } from '../../../lib/event-types.ts';
import type { SessionState } from './state.ts';

/** How the last turn of a session ended, as far as users tell endings apart. */
export const OUTCOMES = ['completed', 'failed', 'stopped', 'limit_reached'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** The states of a session that has unfinished turns or waits for a user. */
export const ACTIVE_STATES = ['needs_input', 'needs_approval', 'running', 'retrying', 'queued'] as const;
type ActiveState = (typeof ACTIVE_STATES)[number];

/** The kinds of actions of the state `needs_input`. */
export const INPUT_KINDS = ['authorization', ...CLIENT_CALL_KINDS] as const satisfies readonly ActionKind[];

/** The values of the public field `state` of a session. A session without a turn has none. */
export const DERIVED_STATES = [...ACTIVE_STATES, ...OUTCOMES] as const;
export type DerivedState = (typeof DERIVED_STATES)[number];

const OUTCOME_OF: Readonly<Record<StopReason['type'], Outcome | undefined>> = {
  end_turn: 'completed',
  failed: 'failed',
  retries_exhausted: 'failed',
  refused: 'failed',
  interrupted: 'stopped',
  budget_reached: 'limit_reached',
  max_steps_reached: 'limit_reached',
  requires_action: undefined,
};

const ACTIVE: Readonly<Partial<Record<SessionState['status'], ActiveState>>> = {
  running: 'running',
  rescheduling: 'retrying',
  pending: 'queued',
};

/** Undefined before the first turn has ended, and for a turn that waits for a user. */
export function outcomeOf(stopReason: StopReason | null): Outcome | undefined {
  return stopReason ? OUTCOME_OF[stopReason.type] : undefined;
}

/** Returns the stop reasons of an outcome. */
export function stopReasonsOf(outcome: Outcome): StopReason['type'][] {
  return (Object.keys(OUTCOME_OF) as StopReason['type'][]).filter((type) => OUTCOME_OF[type] === outcome);
}

/** Whether a turn waits for a user: it is current although no runner works on the session. */
export function needsAction(status: SessionState['status'], hasCurrentTurn: boolean): boolean {
  return hasCurrentTurn && (status === 'idle' || status === 'pending');
}

/** Returns the public state of a session. The first rule that applies decides. Undefined before the first turn. */
export function derivedState({
  status,
  stopReason,
  hasCurrentTurn,
}: Pick<SessionState, 'status' | 'stopReason'> & { hasCurrentTurn: boolean }): DerivedState | undefined {
  if (status === 'terminated') return 'failed';
  if (needsAction(status, hasCurrentTurn)) return needsInput(stopReason) ? 'needs_input' : 'needs_approval';
  return ACTIVE[status] ?? outcomeOf(stopReason);
}

function needsInput(stopReason: StopReason | null): boolean {
  return INPUT_KINDS.some((kind) => kind === stopReason?.kind);
}
