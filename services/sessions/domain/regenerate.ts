import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/event-parts.ts';
import { type Change, draft, unchanged } from './change.ts';
import { INTERACTIVE, SYSTEM_ACTOR } from './create.ts';
import type { SessionState } from './state.ts';

export interface Regeneration {
  /** Id of the new turn. */
  turnId: string;
  /** The last turn of the session. */
  replacesTurnId: string;
  /** JSON text of the overrides of the last turn. Undefined for those of the session. */
  overridesJson: string | undefined;
  actor: Actor;
  traceparent: string | undefined;
}

/** Queues a turn that answers the last message again. Refuses with SESSION_BUSY while a turn is not finished. */
export function regenerate(state: SessionState, regeneration: Regeneration): Change {
  const { turnId, replacesTurnId, actor, traceparent } = regeneration;
  const overridesJson = regeneration.overridesJson ?? state.overridesJson ?? undefined;
  const trace = { turnId, traceparent };
  const queued = {
    turn_id: turnId,
    replaces_turn_id: replacesTurnId,
    ...(overridesJson !== undefined && { overrides: JSON.parse(overridesJson) }),
  };
  const change = unchanged(requireIdle(state));
  change.newTurn = {
    turnId,
    draftIndex: 0,
    priority: INTERACTIVE,
    ready: true,
    traceparent,
    replacesTurnId,
    overridesJson,
  };
  change.drafts = [
    draft('turn.queued', queued, actor, trace),
    draft('session.status_pending', { turn_id: turnId }, SYSTEM_ACTOR, { turnId }),
  ];
  change.head.queuedTurns = 1;
  change.head.status = 'pending';
  return change;
}

/** Returns the state if no turn runs, waits or is queued. */
export function requireIdle(state: SessionState): SessionState {
  if (state.status === 'idle' && state.current === null && state.queuedTurns === 0) return state;
  throw refuse('SESSION_BUSY', 'The last answer is not finished. Wait for its end, or interrupt it.', {
    retryAfterSeconds: 1,
  });
}

export function turnNotLast(sessionId: string): Refusal {
  return refuse(
    'TURN_NOT_LAST',
    'Only the last answer can be regenerated. To continue from an earlier message, fork the session with ' +
      `POST /sessions/${sessionId}/fork and send the message there.`,
  );
}
