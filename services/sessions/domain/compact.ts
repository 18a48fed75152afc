import type { Actor } from '../../../lib/event-parts.ts';
import { type Change, draft, unchanged } from './change.ts';
import { INTERACTIVE, SYSTEM_ACTOR } from './create.ts';
import { requireIdle } from './regenerate.ts';
import type { SessionState } from './state.ts';

export interface OnDemandCompaction {
  /** Id of the new turn. */
  turnId: string;
  actor: Actor;
  traceparent: string | undefined;
}

/** Queues a turn that shortens the history. Refuses with SESSION_BUSY while a turn is not finished. */
export function queueCompaction(
  state: SessionState,
  { turnId, actor, traceparent }: OnDemandCompaction,
): Change {
  const overridesJson = state.overridesJson ?? undefined;
  const queued = {
    turn_id: turnId,
    kind: 'compaction' as const,
    ...(overridesJson !== undefined && { overrides: JSON.parse(overridesJson) }),
  };
  const change = unchanged(requireIdle(state));
  change.newTurn = {
    ...{ turnId, draftIndex: 0, priority: INTERACTIVE, ready: true, traceparent, overridesJson },
    kind: 'compaction',
  };
  change.drafts = [
    draft('turn.queued', queued, actor, { turnId, traceparent }),
    draft('session.status_pending', { turn_id: turnId }, SYSTEM_ACTOR, { turnId }),
  ];
  change.head.queuedTurns = 1;
  change.head.status = 'pending';
  return change;
}
