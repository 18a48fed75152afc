import { type Clock, wait } from '../../lib/clock.ts';

const FIRST_MS = 100;
const LONGEST_MS = 2_000;

/** Pauses between tries of something that fails: each twice as long as the one before. */
export function createBackoff(clock: Clock) {
  let next = FIRST_MS;
  return {
    async pause(signal: AbortSignal): Promise<void> {
      const ms = next;
      next = Math.min(next * 2, LONGEST_MS);
      await wait(clock, ms, signal);
    },
    /** It works again: the next pause is a short one. */
    reset(): void {
      next = FIRST_MS;
    },
  };
}
