import { backoffDelay, type Random } from '../../../../lib/backoff.ts';

/** Ten attempts take about an hour. */
const RETRIES = { firstMs: 10_000, maxMs: 2_560_000 };

const MIN_WAIT_MS = 5_000;
const MAX_WAIT_MS = 60_000;
/** A delivery that waits is tried again after this part of its age. A signal of its session ends the pause. */
const WAIT_PART = 10;

/** When a delivery is claimed again after `attempts` attempts (1 or more). */
export function retryAt(now: Date, attempts: number, random: Random): Date {
  return new Date(now.getTime() + backoffDelay(attempts, RETRIES, random));
}

/** When a delivery is claimed again that waits since its creation. */
export function waitUntil(now: Date, createdAt: Date): Date {
  const wait = (now.getTime() - createdAt.getTime()) / WAIT_PART;
  return new Date(now.getTime() + Math.min(MAX_WAIT_MS, Math.max(MIN_WAIT_MS, wait)));
}
