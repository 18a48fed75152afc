import { type Refusal, refuse } from '../../../lib/errors.ts';
import { type Change, unchanged } from './change.ts';
import { INTERACTIVE, type QueuedMessage, queuedTurnDrafts, TRIGGERED } from './create.ts';
import { type InterruptContext, interrupt } from './interrupt.ts';
import { type PinnedTotal, requirePinnable } from './pinned.ts';
import type { SessionState } from './state.ts';
import { steeredTurn } from './steering.ts';

export type BusyPolicy = 'enqueue' | 'reject' | 'interrupt' | 'steer';

/** Without overrides of its own, a message has those of the session. */
export interface Message extends QueuedMessage {
  busyPolicy: BusyPolicy;
  /** A deployment sends the message, so no person waits for the answer. */
  isTriggered: boolean;
  now: Date;
}

/** The rows that are read before a message can be sent. */
export interface SendContext {
  /** For a message that may interrupt a turn. */
  interrupt: InterruptContext;
  /** For a pinned message. */
  pinned: PinnedTotal;
}

export function busyRefusal(queueHeld: boolean): Refusal {
  const problem = queueHeld
    ? 'The queue of the session is held. Release it, or let the message wait in it.'
    : 'The session is working on an earlier message.';
  return refuse('SESSION_BUSY', problem, { retryAfterSeconds: 1 });
}

/**
 * Queues a turn for a message. Refuses with SESSION_BUSY for `reject`; a blocked turn and a held queue count as busy,
 * too. Behind a held queue the turn of a user waits, and a deployment is refused. Refuses with PINNED_LIMIT_EXCEEDED a pinned
 * message beyond the limits of the session.
 */
export function send(state: SessionState, context: SendContext, message: Message): Change {
  const { pinnedBytes } = message;
  if (pinnedBytes !== undefined) requirePinnable(context.pinned, pinnedBytes);
  const busy = state.status !== 'idle' || state.current !== null || state.queueHeld;
  const isRefused = state.queueHeld && message.isTriggered;
  if (isRefused || (busy && message.busyPolicy === 'reject')) throw busyRefusal(state.queueHeld);
  const interrupts = busy && message.busyPolicy === 'interrupt';
  const change = interrupts
    ? interrupt(state, context.interrupt, { ...message, queue: 'continue' })
    : unchanged(state);
  const idle = change.head.status === 'idle' && !change.head.queueHeld;
  const overridesJson = message.overridesJson ?? state.overridesJson ?? undefined;
  const steersTurnId = message.busyPolicy === 'steer' ? steeredTurn(state) : undefined;
  change.newTurn = {
    turnId: message.turnId,
    draftIndex: change.drafts.length,
    priority: message.isTriggered ? TRIGGERED : INTERACTIVE,
    ready: idle && change.head.currentTurnId === null,
    traceparent: message.traceparent,
    overridesJson,
    steersTurnId,
    pinnedBytes,
  };
  change.drafts.push(...queuedTurnDrafts({ ...message, overridesJson, steersTurnId }, idle));
  if (message.isTriggered) change.beginsSignals = true;
  change.head.queuedTurns += 1;
  if (idle) change.head.status = 'pending';
  return change;
}
