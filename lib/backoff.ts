import { type Clock, wait } from './clock.ts';

/** Returns a number in [0, 1). Passed in, so that tests can choose it. */
export type Random = () => number;

export const systemRandom: Random = Math.random;

interface BackoffLimits {
  /** The longest delay after the first failure, in milliseconds. The bound doubles with each further failure. */
  firstMs: number;
  /** The longest delay after any number of failures, in milliseconds. */
  maxMs: number;
}

/** For repeated calls to another service of this system. */
const SERVICE_CALLS: BackoffLimits = { firstMs: 100, maxMs: 2_000 };

/**
 * Returns the delay in milliseconds before the next attempt after `failures` failures in a row (1 or more). The delay is
 * exponential with equal jitter: half of the bound plus a random part of the other half, so between `firstMs / 2` and
 * `maxMs`. Without jitter, clients that fail together would retry together
 * (https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
 */
export function backoffDelay(failures: number, { firstMs, maxMs }: BackoffLimits, random: Random): number {
  const bound = Math.min(firstMs * 2 ** (failures - 1), maxMs);
  return Math.round((bound * (1 + random())) / 2);
}

/** Pauses between the attempts of an operation that fails. */
export function createBackoff(clock: Clock, limits = SERVICE_CALLS, random = systemRandom) {
  let failures = 0;
  return {
    /** Waits for the next delay, or until the signal aborts. */
    async pause(signal: AbortSignal): Promise<void> {
      failures++;
      await wait(clock, backoffDelay(failures, limits, random), signal);
    },
    /** Starts again with the first delay. Call it after a success. */
    reset(): void {
      failures = 0;
    },
  };
}
