import { createBackoff } from '../backoff.ts';
import type { Clock } from '../clock.ts';
import { isRepeatable } from './failure.ts';

const MAX_ATTEMPTS = 4;
/** The pauses between the attempts take at most 140 ms in all. */
const PAUSES = { firstMs: 20, maxMs: 80 };
const NEVER = new AbortController().signal;

/** Repeats work that the server has undone because of a deadlock or serialization failure, after random pauses. */
export async function withRepetition<Result>(
  clock: Clock,
  work: () => Promise<Result>,
  signal: AbortSignal = NEVER,
): Promise<Result> {
  let backoff: ReturnType<typeof createBackoff> | undefined;
  for (let attempts = 1; ; attempts++) {
    try {
      return await work();
    } catch (error) {
      if (attempts === MAX_ATTEMPTS || signal.aborted || !isRepeatable(error)) throw error;
    }
    backoff ??= createBackoff(clock, PAUSES);
    await backoff.pause(signal);
  }
}
