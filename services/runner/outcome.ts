import type { Ask, Outcome } from '../../proto/gen/ahs/sessions/v1/sessions.ts';
import type { ModelFailure } from './models/failure.ts';

export type StopReason = 'end_turn' | 'budget_reached' | 'max_steps_reached' | 'refused';

export function completed(stopReason: StopReason): Outcome {
  return { kind: { $case: 'completed', value: { stopReason } } };
}

/** Nothing would be different at another try. Code and message are shown to the session's owner. */
export function failed(code: string, message: string): Outcome {
  return { kind: { $case: 'failed', value: { error: { code, message } } } };
}

/** It may pass: the turn comes back, not before `delayMs` from now; with 0 sessions chooses when. */
export function retry(code: string, message: string, delayMs = 0): Outcome {
  return { kind: { $case: 'retry', value: { error: { code, message }, delayMs } } };
}

export function failure({ code, message, mayPass, delayMs }: ModelFailure): Outcome {
  return mayPass ? retry(code, message, delayMs) : failed(code, message);
}

/** Somebody has to decide before it can go on. */
export function blocked(asks: Ask[]): Outcome {
  return { kind: { $case: 'blocked', value: { asks } } };
}

/** The code of what went wrong; undefined when nothing did. */
export function failureIn({ kind }: Outcome): string | undefined {
  return kind?.$case === 'failed' || kind?.$case === 'retry' ? kind.value.error?.code : undefined;
}

/** This runner stops; another one goes on at once. */
export function handBack(): Outcome {
  return retry('runner_stopping', 'The runner was stopped; another one goes on.', 1);
}
