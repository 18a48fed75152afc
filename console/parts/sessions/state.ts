import type { SessionState } from '../../api/session-state.ts';
import type { Session } from '../../gen/types.gen.ts';

/** Labels of the session states in badges and filters, in the order of the filter. */
const LABELS: Record<SessionState, string> = {
  needs_input: 'Needs input',
  needs_approval: 'Needs approval',
  running: 'Running',
  retrying: 'Retrying',
  queued: 'Queued',
  completed: 'Completed',
  failed: 'Failed',
  stopped: 'Stopped',
  limit_reached: 'Limit reached',
};

/** The label of a session without a turn, which has no filter value. */
const NEW = 'New';

export const SESSION_STATES = Object.keys(LABELS) as SessionState[];

export const stateLabel = (state: Session['state']): string => (state === null ? NEW : LABELS[state]);
