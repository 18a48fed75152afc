import type { Clock } from '../../lib/clock.ts';
import { refuse } from '../../lib/errors.ts';

/** Ends an upload after half of the grace period, before the garbage collection can remove its first contents. */
export async function withUploadDeadline<Result>(
  { clock, graceMs }: { clock: Clock; graceMs: number },
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const late = new AbortController();
  const cancel = clock.after(graceMs / 2, () => late.abort());
  try {
    return await work(AbortSignal.any([signal, late.signal]));
  } catch (error) {
    throw late.signal.aborted
      ? refuse('DEADLINE_EXCEEDED', `The upload took longer than ${graceMs / 2_000} seconds.`, {
          cause: error,
        })
      : error;
  } finally {
    cancel();
  }
}
