import { refuse } from '../../../lib/errors.ts';
import type { Actor } from '../../../lib/events.ts';
import { queueing } from './begin.ts';
import { type Change, unchanged } from './change.ts';
import { interrupt, type Stoppable } from './interrupt.ts';
import type { SessionState } from './state.ts';

export type BusyPolicy = 'enqueue' | 'reject' | 'interrupt';

export interface Message {
  turnId: string;
  /** A JSON array of content parts. */
  contentJson: string;
  busyPolicy: BusyPolicy;
  actor: Actor;
  traceparent: string | undefined;
  now: Date;
}

/** Queues a turn for a message, or says why not. A turn that waits for somebody is busy, too. */
export function send(state: SessionState, seen: Stoppable, message: Message): Change {
  const busy = state.status !== 'idle' || state.current !== null;
  if (busy && message.busyPolicy === 'reject') {
    throw refuse('SESSION_BUSY', 'the session is working on an earlier message', { retryAfterSeconds: 1 });
  }
  const interrupts = busy && message.busyPolicy === 'interrupt';
  const change = interrupts ? interrupt(state, seen, message.actor, message.now) : unchanged(state);
  const idle = change.head.status === 'idle';
  change.newTurn = {
    turnId: message.turnId,
    draft: change.drafts.length,
    priority: 0,
    ready: idle && change.head.currentTurnId === null,
    traceparent: message.traceparent,
  };
  change.drafts.push(
    ...queueing(message.turnId, message.contentJson, message.actor, message.traceparent, idle),
  );
  change.head.queuedTurns += 1;
  if (idle) change.head.status = 'pending';
  return change;
}
