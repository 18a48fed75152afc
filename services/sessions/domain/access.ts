import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { SessionState } from './state.ts';

export function sessionNotFound(sessionId: string): Refusal {
  return refuse('SESSION_NOT_FOUND', `Unknown session ${sessionId}.`);
}

/** Returns the state if the user owns the session. Refuses with SESSION_NOT_FOUND otherwise, also if it exists. */
export function requireOwned(
  state: SessionState | undefined,
  sessionId: string,
  ownerId: string,
): SessionState {
  if (!state || state.deleted || state.ownerId !== ownerId) throw sessionNotFound(sessionId);
  return state;
}

/** Returns the state if the session accepts changes: it is neither archived nor terminated. */
export function requireWritable<State extends Pick<SessionState, 'archived' | 'status'>>(
  state: State,
): State {
  if (state.archived) throw refuse('SESSION_ARCHIVED', 'The session is archived and read-only.');
  if (state.status === 'terminated')
    throw refuse('SESSION_TERMINATED', 'The session is terminated. Start a new session.');
  return state;
}
