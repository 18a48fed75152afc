import { type Refusal, refuse } from '../../../lib/errors.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

/** The day of a moment, as YYYY-MM-DD in UTC. */
export function dayOf(now: Date): string {
  return now.toISOString().slice(0, 10);
}

/** There are turns again when the next day begins. */
export function noTurnsLeft(turnsPerDay: number, now: Date): Refusal {
  const retryAfterSeconds = Math.ceil((DAY_MS - (now.getTime() % DAY_MS)) / 1_000);
  return refuse(
    'QUOTA_EXCEEDED',
    `${turnsPerDay} turns have begun today, and no more may before tomorrow (UTC)`,
    {
      retryAfterSeconds,
    },
  );
}
