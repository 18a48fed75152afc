import type { StopReason } from '../../../lib/events.ts';
import { SYSTEM } from './begin.ts';
import { closeCalls } from './calls.ts';
import { type Change, type Draft, draft, unchanged } from './change.ts';
import type { FinalStatus, SessionState, TurnState, Usage } from './state.ts';

export interface Failure {
  code: string;
  message: string;
}

export interface RunLimits {
  /** Failures in a row that are worth another try. */
  maxFailures: number;
  /** Starts of one turn without progress, so that one that takes its runner down does not go round for ever. */
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
  const closed = closeCalls(turn, 'turn_completed');
  const drafts = [...closed.drafts, completed];
  return { ...end(state, turn, { status: 'completed', drafts, stopReason, now }), settled: closed.settled };
}

/** The turn cannot go on. */
export function fail(
  state: SessionState,
  turn: TurnState,
  error: Failure,
  retryStatus: 'exhausted' | 'terminal',
  now: Date,
): Change {
  const closed = closeCalls(turn, error.code);
  const drafts = [
    ...discarded(turn, error.code),
    ...closed.drafts,
    draft('session.error', { error, retry_status: retryStatus }, SYSTEM, traceOf(turn)),
    draft(
      'turn.failed',
      { ...attemptOf(turn), error, usage: publicUsage(turn.usage) },
      SYSTEM,
      traceOf(turn),
    ),
  ];
  const failed = { ...turn, errorJson: JSON.stringify(error) };
  const stopReason = { type: 'retries_exhausted' as const };
  return { ...end(state, failed, { status: 'failed', drafts, stopReason, now }), settled: closed.settled };
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
  const starts = turn.attempt - turn.settledAttempt;
  if (starts >= limits.maxAttempts) {
    const error = {
      code: 'attempts_exhausted',
      message: `the turn was started ${starts} times and never got on`,
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

export interface Ending {
  status: FinalStatus;
  drafts: Draft[];
  stopReason: StopReason;
  now: Date;
}

/** A turn's one and only end; what waits behind it may begin. */
export function end(state: SessionState, turn: TurnState, ending: Ending): Change {
  const { status, drafts, stopReason, now } = ending;
  const { next } = state;
  const change = unchanged(state);
  const last = next
    ? draft('session.status_pending', { turn_id: next.turnId }, SYSTEM, { turnId: next.turnId })
    : draft('session.status_idle', { stop_reason: stopReason }, SYSTEM, traceOf(turn));
  // It may have been pending all the time, behind a turn that waited for somebody.
  change.drafts = next && state.status === 'pending' ? drafts : [...drafts, last];
  // The fence grows, so that whoever held the turn is refused from here on.
  change.head = {
    ...change.head,
    status: next ? 'pending' : 'idle',
    stopReason,
    currentTurnId: null,
    queuedTurns: state.queuedTurns,
    fence: state.fence + 1,
  };
  change.turns = [
    {
      ...turn,
      status,
      ready: false,
      wakeAt: null,
      leaseUntil: null,
      openMessageId: null,
      calls: [],
      finishedAt: now,
    },
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

export function attemptOf(turn: TurnState) {
  return { turn_id: turn.turnId, attempt: turn.attempt, fence: turn.fence };
}

export function traceOf(turn: TurnState) {
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
