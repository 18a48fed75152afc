import { type Change, draft, type EventDraft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { requireLease } from './environment.ts';
import { NO_USAGE, type SessionState, type TurnState } from './state.ts';
import { publicUsage, traceFields } from './turn-fields.ts';

/**
 * The turn that a steered message is for: the one that is in progress or blocked, or the one that starts as soon as a runner
 * is free. Undefined in an idle session, also behind a held queue: the message is then queued like any other.
 */
export function steeredTurn({ current, next, status }: SessionState): string | undefined {
  // A compaction has no model step that could get the message.
  if (current) return current.kind === 'answer' ? current.turnId : undefined;
  return status === 'pending' || status === 'rescheduling' ? next?.turnId : undefined;
}

/** A runner's request for the steered messages of its turn. */
export interface DeliveryRequest {
  turnId: string;
  fence: number;
  /** Number of the model step that gets the messages, from 1. */
  step: number;
  now: Date;
}

/** A turn whose message was delivered into another turn. */
export interface Delivery {
  /** The seq of its `user.message`. */
  position: number;
  /** The seq of its `user.message_delivered`. */
  deliveredSeq: number;
}

/**
 * Delivers the messages of queued turns into the turn of a lease: those turns are completed without a start. `waiting` are
 * in the order of the queue. Refuses with LEASE_LOST when the lease is lost or has expired.
 */
export function deliver(
  found: SessionState | undefined,
  waiting: readonly TurnState[],
  request: DeliveryRequest,
): { change: Change; deliveries: readonly Delivery[] } {
  const { step, now } = request;
  const { state, turn } = requireLease(found, request, now);
  const { turnId, fence } = turn;
  const drafts: EventDraft[] = [];
  const deliveries: Delivery[] = [];
  for (const steering of waiting) {
    const { position } = steering;
    const delivered = { message_seq: position, turn_id: turnId, step };
    const ended = { turn_id: steering.turnId, attempt: steering.attempt, fence };
    deliveries.push({ position, deliveredSeq: state.lastSeq + drafts.length + 1 });
    drafts.push(
      draft('user.message_delivered', delivered, SYSTEM_ACTOR, traceFields(turn)),
      draft(
        'turn.completed',
        { ...ended, usage: publicUsage(NO_USAGE), delivered_to_turn_id: turnId },
        SYSTEM_ACTOR,
        traceFields(steering),
      ),
    );
  }
  const change = unchanged(state);
  change.drafts = drafts;
  change.head.queuedTurns = state.queuedTurns - waiting.length;
  change.turns = waiting.map((steering) => ({
    ...steering,
    status: 'completed',
    ready: false,
    finishedAt: now,
  }));
  return { change, deliveries };
}
