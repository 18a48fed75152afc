import type { Actor } from '../../../lib/events.ts';
import { SYSTEM } from './begin.ts';
import { closeCalls } from './calls.ts';
import { type Change, type Draft, draft, unchanged } from './change.ts';
import { attemptOf, discarded, end, publicUsage, traceOf } from './finish.ts';
import type { QueuedTurn, SessionState, TurnState } from './state.ts';

/** What has to be looked up before a turn can be stopped. */
export interface Stoppable {
  /** Of the message under way: its model, and its text as far as the journal has it. */
  partial: { model: string; text: string } | undefined;
  /** Where nothing is current: the turn at the head of the queue, and the one behind it. */
  waiting: TurnState | undefined;
  behind: QueuedTurn | undefined;
}

/** Nothing can be stopped with this, and nothing will be. */
export const NOTHING_SEEN: Stoppable = { partial: undefined, waiting: undefined, behind: undefined };

const STOPPED = { type: 'interrupted' } as const;

/**
 * The turn that runs, waits for somebody or is next is stopped, at once: whoever holds it has lost it. What it has
 * said so far is kept as a message. Without such a turn nothing changes.
 */
export function interrupt(state: SessionState, seen: Stoppable, actor: Actor, now: Date): Change {
  const { current } = state;
  if (current) return stop(state, current, seen, actor, now);
  const { waiting, behind } = seen;
  if (!waiting) return unchanged(state);
  const without = { ...state, next: behind ?? null, queuedTurns: state.queuedTurns - 1 };
  if (waiting.attempt > 0) return stop(without, waiting, seen, actor, now);
  const place = traceOf(waiting);
  const lead = [draft('user.interrupt', {}, actor, place)];
  const ending = [draft('turn.cancelled', { turn_id: waiting.turnId, reason: 'interrupted' }, SYSTEM, place)];
  return end(without, waiting, {
    status: 'cancelled',
    drafts: [...lead, ...ending],
    stopReason: STOPPED,
    now,
  });
}

function stop(state: SessionState, turn: TurnState, seen: Stoppable, actor: Actor, now: Date): Change {
  const closed = closeCalls(turn, 'interrupted');
  const drafts = [
    draft('user.interrupt', {}, actor, traceOf(turn)),
    ...kept(state, turn, seen),
    ...closed.drafts,
    draft('turn.interrupted', { ...attemptOf(turn), usage: publicUsage(turn.usage) }, SYSTEM, traceOf(turn)),
  ];
  const change = end(state, turn, { status: 'interrupted', drafts, stopReason: STOPPED, now });
  return { ...change, settled: closed.settled };
}

/** A message without any text yet is discarded: there is nothing to keep of it. */
function kept(state: SessionState, turn: TurnState, { partial }: Stoppable): Draft[] {
  if (turn.openMessageId === null || !partial?.text) return discarded(turn, 'interrupted');
  const message = {
    message_id: turn.openMessageId,
    content: [{ type: 'text', text: partial.text }],
    model: partial.model,
    finish_reason: 'interrupted',
  };
  return [draft('agent.message', message, { type: 'agent', id: state.agentId }, traceOf(turn))];
}
