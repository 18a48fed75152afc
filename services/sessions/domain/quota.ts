import { type Refusal, refuse } from '../../../lib/errors.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Returns the UTC day as YYYY-MM-DD. */
export function utcDay(now: Date): string {
  return now.toISOString().slice(0, 10);
}

/** The refusal of a turn beyond the daily quota. The caller may retry when the next UTC day begins. */
export function quotaExceeded(turnsPerDay: number, now: Date): Refusal {
  const retryAfterSeconds = Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000);
  return refuse(
    'QUOTA_EXCEEDED',
    `The daily quota of ${turnsPerDay} turns is used up. It is renewed at 00:00 UTC.`,
    { retryAfterSeconds },
  );
}
