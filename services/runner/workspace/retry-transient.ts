import { createBackoff } from '../../../lib/backoff.ts';
import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';

/** A key is in use when an earlier attempt, whose connection was lost, is still running. */
const TRANSIENT = new Set<string>([
  'DEPENDENCY_UNAVAILABLE',
  'DEADLINE_EXCEEDED',
  'PEER_REJECTED',
  'IDEMPOTENCY_KEY_IN_USE',
]);
const RETRY_MS = 10_000;

/** Runs an idempotent operation again for up to `retryMs` milliseconds, while it fails with a transient error. */
export async function retryTransient<T>(
  clock: Clock,
  signal: AbortSignal,
  operation: () => Promise<T>,
  retryMs = RETRY_MS,
): Promise<T> {
  const backoff = createBackoff(clock);
  const end = clock.now().getTime() + retryMs;
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!isTransient(error) || clock.now().getTime() >= end || signal.aborted) throw error;
    }
    await backoff.pause(signal);
  }
}

/** Whether an operation failed with an error after which its outcome is unknown, and a repetition can succeed. */
export function isTransient(error: unknown): boolean {
  return error instanceof Refusal && TRANSIENT.has(error.code);
}
