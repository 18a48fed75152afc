import type { Actor } from '../../../lib/event-parts.ts';
import type { EventData } from '../../../lib/events.ts';
import { type Change, draft, type EventDraft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { attemptFields, discardOpenMessage, end, INTERRUPTED } from './finish.ts';
import { countOpenModelRequest } from './open-model-request.ts';
import { type QueueAfterInterrupt, queueHeldChanged } from './queue.ts';
import type { FinalStatus, QueuedTurn, SessionState, TurnState } from './state.ts';
import { closeOpenCalls } from './tool-calls.ts';
import { publicUsage, traceFields } from './turn-fields.ts';

/** The rows that are read before a turn can be interrupted. */
export interface InterruptContext {
  /** The unfinished message: its model, and its text as far as the journal has it. */
  partial: { model: string; text: string } | undefined;
  /** Set when no turn is current: the first and the second turn of the queue. */
  waiting: TurnState | undefined;
  behind: QueuedTurn | undefined;
}

/** For decisions that do not interrupt a turn. */
export const NO_INTERRUPT_CONTEXT: InterruptContext = {
  partial: undefined,
  waiting: undefined,
  behind: undefined,
};

/** Who interrupts a turn, when, and what becomes of the turns behind it. */
export interface Interrupt {
  actor: Actor;
  queue: QueueAfterInterrupt;
  /** Also ends the first turn of a held queue. The turns behind it stay held. */
  endsHeldTurns?: boolean;
  /** Only this turn is interrupted. */
  onlyTurnId?: string | undefined;
  now: Date;
}

/**
 * Interrupts the turn that is in progress, blocked or next. Its runner loses the lease at once. The text of an
 * unfinished message is kept as a message. With `hold`, the turns behind it wait until the queue is released. Without
 * such a turn nothing changes; the first turn of a held queue is not next unless `endsHeldTurns` is set. Nothing changes
 * either if that turn is not the one that the input names.
 */
export function interrupt(state: SessionState, context: InterruptContext, input: Interrupt): Change {
  const { current } = state;
  const { waiting, behind } = context;
  if (input.onlyTurnId !== undefined && input.onlyTurnId !== (current ?? waiting)?.turnId)
    return unchanged(state);
  if (current) return interruptTurn(state, current, context, input);
  if (!waiting || (state.queueHeld && !input.endsHeldTurns)) return unchanged(state);
  const stateWithout = { ...state, next: behind ?? null, queuedTurns: state.queuedTurns - 1 };
  if (waiting.attempt > 0) return interruptTurn(stateWithout, waiting, context, input);
  const trace = traceFields(waiting);
  const drafts = [
    draft('user.interrupt', {}, input.actor, trace),
    draft('turn.cancelled', { turn_id: waiting.turnId, reason: 'interrupted' }, SYSTEM_ACTOR, trace),
  ];
  return endInterrupted(stateWithout, waiting, { status: 'cancelled', drafts }, input);
}

/** Ends the turn, and holds the turns behind it if the interrupt says so or they are held already. */
function endInterrupted(
  state: SessionState,
  turn: TurnState,
  ending: { status: FinalStatus; drafts: EventDraft[] },
  { actor, queue, now }: Interrupt,
): Change {
  const holds = (queue === 'hold' || state.queueHeld) && state.queuedTurns > 0;
  const change = end({ ...state, next: holds ? null : state.next }, turn, {
    ...ending,
    stopReason: INTERRUPTED,
    now,
  });
  if (holds === state.queueHeld) return change;
  return {
    ...change,
    head: { ...change.head, queueHeld: holds },
    drafts: [...change.drafts, queueHeldChanged(actor)],
  };
}

function interruptTurn(
  before: SessionState,
  begun: TurnState,
  context: InterruptContext,
  input: Interrupt,
): Change {
  const { state, turn, drafts: finished } = countOpenModelRequest(before, begun, input.now);
  const closed = closeOpenCalls(turn, 'interrupted');
  const drafts = [
    draft('user.interrupt', {}, input.actor, traceFields(turn)),
    ...keepPartialMessage(state, turn, context),
    ...finished,
    ...closed.drafts,
    draft(
      'turn.interrupted',
      { ...attemptFields(turn), usage: publicUsage(turn.usage) },
      SYSTEM_ACTOR,
      traceFields(turn),
    ),
  ];
  const change = endInterrupted(state, turn, { status: 'interrupted', drafts }, input);
  return { ...change, ...closed.rows };
}

/** Keeps the text of an unfinished message as a message. A message without text is discarded. */
function keepPartialMessage(
  state: SessionState,
  turn: TurnState,
  { partial }: InterruptContext,
): EventDraft[] {
  if (turn.openMessageId === null || !partial?.text) return discardOpenMessage(turn, 'interrupted');
  const message: EventData<'agent.message'> = {
    message_id: turn.openMessageId,
    content: [{ type: 'text', text: partial.text }],
    model: partial.model,
    finish_reason: 'interrupted',
  };
  return [draft('agent.message', message, { type: 'agent', id: state.agentId }, traceFields(turn))];
}
