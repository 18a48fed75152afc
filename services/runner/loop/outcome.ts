import type { Ask, Outcome } from '../../../proto/gen/ahs/sessions/v1/sessions.ts';
import { type ModelFailure, stepTimeout } from '../models/failure.ts';
import type { LeasedTurn } from '../queue/leased-turns.ts';
import type { ModelFallback } from './model-fallback.ts';

type CompletedStopReason = 'end_turn' | 'budget_reached' | 'max_steps_reached' | 'refused';

/** `outputJson` is the structured output as JSON text. */
export function completed(stopReason: CompletedStopReason, outputJson?: string): Outcome {
  return { kind: { $case: 'completed', value: { stopReason, outputJson } } };
}

/** A failure that a retry would repeat. The session's owner sees code and message. */
export function failed(code: string, message: string): Outcome {
  return { kind: { $case: 'failed', value: { error: { code, message } } } };
}

/**
 * A temporary failure: the turn is queued again, not before `delayMs` from now. With 0, sessions chooses the delay. When the
 * retries are spent, the turn continues with `fallbackModel`.
 */
export function retry(code: string, message: string, delayMs = 0, fallbackModel?: string): Outcome {
  return { kind: { $case: 'retry', value: { error: { code, message }, delayMs, fallbackModel } } };
}

/** A part of the service is unavailable. With requests, the turn blocks when its retries are spent; otherwise it fails. */
export function retryDependency(asks: Ask[] = []): Outcome {
  const error = {
    code: 'dependency_unavailable',
    message: 'A part of the service is temporarily unavailable.',
  };
  const whenExhausted = asks.length === 0 ? undefined : { asks };
  return { kind: { $case: 'retry', value: { error, delayMs: 0, whenExhausted } } };
}

export function failureOutcome(
  { code, message, isRetryable, delayMs }: ModelFailure,
  fallback?: ModelFallback,
): Outcome {
  return isRetryable ? retry(code, message, delayMs, fallback?.to ?? undefined) : failed(code, message);
}

/** The turn continues when these approvals are decided and these calls are answered. */
export function blocked(asks: Ask[]): Outcome {
  return { kind: { $case: 'blocked', value: { asks } } };
}

/** The error code of the outcome; undefined when there is none. */
export function errorCodeOf({ kind }: Outcome): string | undefined {
  return kind?.$case === 'failed' || kind?.$case === 'retry' ? kind.value.error?.code : undefined;
}

/** This runner stops; another runner can continue the turn immediately. */
function requeued(): Outcome {
  return retry('runner_stopping', 'The runner was stopped. Another runner continues the turn.', 1);
}

/** The outcome of a turn that was stopped before its end. */
export function stoppedOutcome(
  turn: Pick<LeasedTurn, 'stopCause'>,
  { stepTimeoutSeconds }: { stepTimeoutSeconds: number },
  fallback?: ModelFallback,
): Outcome {
  if (turn.stopCause === 'budget') return completed('budget_reached');
  return turn.stopCause === 'timeout'
    ? failureOutcome(stepTimeout(stepTimeoutSeconds), fallback)
    : requeued();
}
