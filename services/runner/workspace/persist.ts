import type { Clock } from '../../../lib/clock.ts';
import { Refusal } from '../../../lib/errors.ts';
import { createBackoff } from '../backoff.ts';

const PASSING = new Set<string>(['DEPENDENCY_UNAVAILABLE', 'DEADLINE_EXCEEDED', 'PEER_REJECTED']);
const TRIES = 8;

/** Tries again, for some seconds, what may be done more than once and fails because somebody is away for a moment. */
export async function persist<T>(clock: Clock, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const backoff = createBackoff(clock);
  for (let tries = 1; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const mayPass = error instanceof Refusal && PASSING.has(error.code);
      if (!mayPass || tries === TRIES || signal.aborted) throw error;
    }
    await backoff.pause(signal);
  }
}
