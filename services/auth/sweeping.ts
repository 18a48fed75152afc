import type { Clock } from '../../lib/clock.ts';

const EVERY_MS = 10 * 60 * 1_000;

/** Again and again deletes what has ended. The returned function ends that, and waits for what is under way. */
export function sweepAgainAndAgain(
  clock: Clock,
  sweep: () => Promise<void>,
  onError: (error: unknown) => void,
): () => Promise<void> {
  let ended = false;
  let sweeping = Promise.resolve();
  let cancel = clock.after(EVERY_MS, begin);

  function begin(): void {
    sweeping = sweep()
      .catch((error: unknown) => {
        if (!ended) onError(error);
      })
      .then(() => {
        if (!ended) cancel = clock.after(EVERY_MS, begin);
      });
  }

  return async () => {
    ended = true;
    cancel();
    await sweeping;
  };
}
