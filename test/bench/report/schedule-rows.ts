import type { Schedules } from '../measurements/schedules/schedules.ts';
import { median, type Row, spread } from './rows.ts';

/** Results of the measurement of schedules per round; empty if it was not measured. */
export interface ScheduleResults {
  schedules: Schedules[];
}

export function scheduleRows({ schedules }: ScheduleResults): Row[] {
  if (schedules.length === 0) return [];
  const fires = median(schedules, (one) => one.firesPerSecond);
  const p99Ms = median(schedules, (one) => one.lateness.p99Ms);
  const idle = median(schedules, (one) => one.idleQueriesPerSecond);
  const nextUs = median(schedules, (one) => one.nextTimeUs);
  return [
    {
      letter: "w'",
      what: 'fires of due schedules, first commit',
      figure: `${Math.round(fires)}/s`,
      target: ['at least 5000/s', fires >= 5_000],
    },
    {
      what: '1,000 due at once → committed session',
      figure: spread(schedules, (one) => one.lateness),
      target: ['p99 at most 1 s', p99Ms <= 1_000],
    },
    {
      what: 'idle, statements of deployments',
      figure: `${idle.toFixed(2)}/s`,
      target: ['ticker at most 1/s', idle <= 1.1],
    },
    {
      what: 'parse an expression, and its next time',
      figure: `${nextUs.toFixed(1)} µs`,
      target: ['at most 60 µs', nextUs <= 60],
    },
  ];
}
