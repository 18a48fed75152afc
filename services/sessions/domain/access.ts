import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { SessionState } from './state.ts';

export function sessionNotFound(sessionId: string): Refusal {
  return refuse('SESSION_NOT_FOUND', `there is no session ${sessionId}`);
}

/** Somebody else's session looks like one that is not there. */
export function owned(state: SessionState | undefined, sessionId: string, ownerId: string): SessionState {
  if (!state || state.deleted || state.ownerId !== ownerId) throw sessionNotFound(sessionId);
  return state;
}

/** Only a session that is neither archived nor terminated takes new work. */
export function open(state: SessionState): SessionState {
  if (state.archived) throw refuse('SESSION_ARCHIVED', 'the session is archived and can only be read');
  if (state.status === 'terminated') throw refuse('SESSION_TERMINATED', 'the session has ended for good');
  return state;
}
