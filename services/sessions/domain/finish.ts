import { backoffDelay, type Random } from '../../../lib/backoff.ts';
import type { StopReason } from '../../../lib/event-parts.ts';
import { type Change, draft, type EventDraft, unchanged } from './change.ts';
import { SYSTEM_ACTOR } from './create.ts';
import { countOpenModelRequest } from './open-model-request.ts';
import type { FinalStatus, SessionState, TurnState } from './state.ts';
import { closeOpenCalls } from './tool-calls.ts';
import { publicUsage, traceFields } from './turn-fields.ts';

export interface TurnError {
  code: string;
  message: string;
}

export interface RunLimits {
  /** Retryable failures in a row after which the turn fails. */
  maxFailures: number;
  /** Starts of a turn without progress after which it fails. Otherwise a turn that crashes its runner would go on forever. */
  maxAttempts: number;
  /** Spreads the retries of turns that fail together. */
  random: Random;
}

export const INTERRUPTED: StopReason = { type: 'interrupted' };

const BACKOFF = { firstMs: 1_000, maxMs: 60_000 };

/** Completes the turn. */
export function finish(state: SessionState, turn: TurnState, stopReason: StopReason, now: Date): Change {
  const completed = draft(
    'turn.completed',
    { ...attemptFields(turn), usage: publicUsage(turn.usage) },
    SYSTEM_ACTOR,
    traceFields(turn),
  );
  const closed = closeOpenCalls(turn, 'turn_completed');
  const drafts = [...closed.drafts, completed];
  return {
    ...end(state, turn, { status: 'completed', drafts, stopReason, now }),
    ...closed.rows,
  };
}

/** Fails the turn. The stop reason is `retries_exhausted` if retries were spent, else `failed`. */
export function fail(
  state: SessionState,
  turn: TurnState,
  error: TurnError,
  retryStatus: 'exhausted' | 'terminal',
  now: Date,
): Change {
  const closed = closeOpenCalls(turn, error.code);
  const drafts = [
    ...discardOpenMessage(turn, error.code),
    ...closed.drafts,
    draft('session.error', { error, retry_status: retryStatus }, SYSTEM_ACTOR, traceFields(turn)),
    draft(
      'turn.failed',
      { ...attemptFields(turn), error, usage: publicUsage(turn.usage) },
      SYSTEM_ACTOR,
      traceFields(turn),
    ),
  ];
  const failed = { ...turn, errorJson: JSON.stringify(error) };
  const stopReason: StopReason = { type: retryStatus === 'exhausted' ? 'retries_exhausted' : 'failed' };
  return {
    ...end(state, failed, { status: 'failed', drafts, stopReason, now }),
    ...closed.rows,
  };
}

interface Retry {
  error: TurnError;
  delayMs: number;
  fallbackModel?: string | undefined;
}

/**
 * Handles a retryable error: the turn sleeps and is then retried. When its retries are spent, it continues at once with the
 * fallback model and new retries, or fails without one.
 */
export function retry(
  state: SessionState,
  turn: TurnState,
  { error, delayMs, fallbackModel }: Retry,
  limits: RunLimits,
  now: Date,
): Change {
  const failures = turn.failures + 1;
  if (failures > limits.maxFailures && fallbackModel !== undefined)
    return fallBack(state, turn, { error, fallbackModel }, now);
  if (failures > limits.maxFailures) return fail(state, turn, error, 'exhausted', now);
  const pauseMs = delayMs > 0 ? delayMs : backoffDelay(failures, BACKOFF, limits.random);
  const wakeAt = new Date(now.getTime() + pauseMs);
  return requeue(
    state,
    { ...turn, failures, wakeAt, ready: false },
    [retrying(turn, error, wakeAt)],
    error.code,
  );
}

/** Another model is a new beginning: its failures are counted anew. */
function fallBack(
  state: SessionState,
  turn: TurnState,
  { error, fallbackModel }: { error: TurnError; fallbackModel: string },
  now: Date,
): Change {
  const next = { failures: 0, lastProgressAttempt: turn.attempt, fallbackModel };
  return requeue(state, { ...turn, ...next, ready: true }, [retrying(turn, error, now)], error.code);
}

function retrying(turn: TurnState, error: TurnError, nextAttemptAt: Date): EventDraft {
  return draft(
    'session.error',
    { error, retry_status: 'retrying', next_attempt_at: nextAttemptAt.toISOString() },
    SYSTEM_ACTOR,
    traceFields(turn),
  );
}

/** Queues a turn whose runner returned it or lost the lease: another runner may claim it at once. */
export function reclaim(
  state: SessionState,
  turn: TurnState,
  reason: string,
  limits: RunLimits,
  now: Date,
): Change {
  const { drafts, ...counted } = countOpenModelRequest(state, turn, now);
  const change = reclaimCounted(counted.state, counted.turn, reason, limits, now);
  return { ...change, drafts: [...drafts, ...change.drafts] };
}

function reclaimCounted(
  state: SessionState,
  turn: TurnState,
  reason: string,
  limits: RunLimits,
  now: Date,
): Change {
  const starts = turn.attempt - turn.lastProgressAttempt;
  if (starts >= limits.maxAttempts) {
    const error = {
      code: 'attempts_exhausted',
      message: `The turn was started ${starts} times without progress.`,
    };
    return fail(state, turn, error, 'exhausted', now);
  }
  return requeue(state, { ...turn, ready: true }, [], reason);
}

function requeue(state: SessionState, turn: TurnState, drafts: EventDraft[], reason: string): Change {
  const change = unchanged(state);
  change.drafts = [
    ...discardOpenMessage(turn, reason),
    ...drafts,
    draft('session.status_rescheduled', { ...attemptFields(turn), reason }, SYSTEM_ACTOR, traceFields(turn)),
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

interface TurnEnding {
  status: FinalStatus;
  drafts: EventDraft[];
  stopReason: StopReason;
  now: Date;
}

/** Ends the turn with its final status and makes the next queued turn ready. */
export function end(state: SessionState, turn: TurnState, ending: TurnEnding): Change {
  const { status, drafts, stopReason, now } = ending;
  const { next } = state;
  const change = unchanged(state);
  const last = next
    ? draft('session.status_pending', { turn_id: next.turnId }, SYSTEM_ACTOR, { turnId: next.turnId })
    : draft('session.status_idle', { stop_reason: stopReason }, SYSTEM_ACTOR, traceFields(turn));
  // With a queued turn behind a blocked one the session is already pending.
  change.drafts = next && state.status === 'pending' ? drafts : [...drafts, last];
  // The fence grows, so that later reports of the turn's runner are refused.
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
      approval: null,
      finishedAt: now,
    },
  ];
  if (next) change.promote = next.position;
  return change;
}

export function discardOpenMessage(turn: TurnState, reason: string): EventDraft[] {
  if (turn.openMessageId === null) return [];
  return [
    draft(
      'agent.message_discarded',
      { message_id: turn.openMessageId, reason },
      SYSTEM_ACTOR,
      traceFields(turn),
    ),
  ];
}

export function attemptFields(turn: TurnState) {
  return { turn_id: turn.turnId, attempt: turn.attempt, fence: turn.fence };
}
