import type { Actor, StopReason } from '../../../lib/events.ts';
import { SYSTEM } from './begin.ts';
import { type Change, type Draft, draft, unchanged } from './change.ts';
import type { FinalStatus, SessionState, TurnState, Usage } from './state.ts';

export interface Failure {
  code: string;
  message: string;
}

export interface RunLimits {
  /** Failures of one turn that are worth another try. */
  maxFailures: number;
  /** Starts of one turn in all, so that a turn that takes its runner down does not go round for ever. */
  maxAttempts: number;
}

const BACKOFF_MS = 1_000;
const BACKOFF_MAX_MS = 60_000;

/** The turn has done what it could. */
export function finish(state: SessionState, turn: TurnState, stopReason: StopReason, now: Date): Change {
  const completed = draft(
    'turn.completed',
    { ...attemptOf(turn), usage: publicUsage(turn.usage) },
    SYSTEM,
    traceOf(turn),
  );
  return end(state, turn, 'completed', [completed], stopReason, now);
}

/** The turn cannot go on. */
export function fail(
  state: SessionState,
  turn: TurnState,
  error: Failure,
  retryStatus: 'exhausted' | 'terminal',
  now: Date,
): Change {
  const drafts = [
    ...discarded(turn, error.code),
    draft('session.error', { error, retry_status: retryStatus }, SYSTEM, traceOf(turn)),
    draft(
      'turn.failed',
      { ...attemptOf(turn), error, usage: publicUsage(turn.usage) },
      SYSTEM,
      traceOf(turn),
    ),
  ];
  const failed = { ...turn, errorJson: JSON.stringify(error) };
  return end(state, failed, 'failed', drafts, { type: 'retries_exhausted' }, now);
}

/** The turn is stopped from outside; its runner loses the lease. */
export function interrupt(state: SessionState, actor: Actor, now: Date): Change {
  const turn = state.current;
  if (!turn) return unchanged(state);
  const drafts = [
    draft('user.interrupt', {}, actor, traceOf(turn)),
    ...discarded(turn, 'interrupted'),
    draft('turn.interrupted', { ...attemptOf(turn), usage: publicUsage(turn.usage) }, SYSTEM, traceOf(turn)),
  ];
  return end(state, turn, 'interrupted', drafts, { type: 'interrupted' }, now);
}

/** Something went wrong that may pass: the turn sleeps and goes on by itself, or has failed too often. */
export function retry(
  state: SessionState,
  turn: TurnState,
  { error, delayMs }: { error: Failure; delayMs: number },
  limits: RunLimits,
  now: Date,
): Change {
  const failures = turn.failures + 1;
  if (failures > limits.maxFailures) return fail(state, turn, error, 'exhausted', now);
  const backoff = Math.min(BACKOFF_MS * 2 ** (failures - 1), BACKOFF_MAX_MS);
  const wakeAt = new Date(now.getTime() + (delayMs > 0 ? delayMs : backoff));
  const drafts = [
    draft(
      'session.error',
      { error, retry_status: 'retrying', next_attempt_at: wakeAt.toISOString() },
      SYSTEM,
      traceOf(turn),
    ),
  ];
  return requeue(state, { ...turn, failures, wakeAt, ready: false }, drafts, error.code);
}

/** The runner gives the turn back, or nobody has heard from it: another one goes on at once. */
export function reclaim(
  state: SessionState,
  turn: TurnState,
  reason: string,
  limits: RunLimits,
  now: Date,
): Change {
  if (turn.attempt >= limits.maxAttempts) {
    const error = {
      code: 'attempts_exhausted',
      message: `the turn was started ${turn.attempt} times and never ended`,
    };
    return fail(state, turn, error, 'exhausted', now);
  }
  return requeue(state, { ...turn, ready: true }, [], reason);
}

function requeue(state: SessionState, turn: TurnState, drafts: Draft[], reason: string): Change {
  const change = unchanged(state);
  change.drafts = [
    ...discarded(turn, reason),
    ...drafts,
    draft('session.status_rescheduled', { ...attemptOf(turn), reason }, SYSTEM, traceOf(turn)),
  ];
  change.head = {
    ...change.head,
    status: 'rescheduling',
    currentTurnId: null,
    queuedTurns: state.queuedTurns + 1,
  };
  change.turns = [{ ...turn, status: 'queued', runnerId: null, leaseUntil: null, openMessageId: null }];
  return change;
}

/** A turn's one and only end; what waits behind it may begin. */
function end(
  state: SessionState,
  turn: TurnState,
  status: FinalStatus,
  drafts: Draft[],
  stopReason: StopReason,
  now: Date,
): Change {
  const { next } = state;
  const change = unchanged(state);
  const last = next
    ? draft('session.status_pending', { turn_id: next.turnId }, SYSTEM, { turnId: next.turnId })
    : draft('session.status_idle', { stop_reason: stopReason }, SYSTEM, traceOf(turn));
  change.drafts = [...drafts, last];
  // The fence grows, so that whoever held the turn is refused from here on.
  change.head = {
    ...change.head,
    status: next ? 'pending' : 'idle',
    stopReason,
    currentTurnId: null,
    fence: state.fence + 1,
  };
  change.turns = [
    { ...turn, status, ready: false, wakeAt: null, leaseUntil: null, openMessageId: null, finishedAt: now },
  ];
  if (next) change.promote = next.position;
  return change;
}

export function discarded(turn: TurnState, reason: string): Draft[] {
  if (turn.openMessageId === null) return [];
  return [
    draft('agent.message_discarded', { message_id: turn.openMessageId, reason }, SYSTEM, traceOf(turn)),
  ];
}

function attemptOf(turn: TurnState) {
  return { turn_id: turn.turnId, attempt: turn.attempt, fence: turn.fence };
}

function traceOf(turn: TurnState) {
  return { turnId: turn.turnId, traceparent: turn.traceparent ?? undefined };
}

export function publicUsage(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    steps: usage.steps,
    tool_calls: usage.toolCalls,
    active_seconds: usage.activeMs / 1_000,
  };
}
