import { describe, expect, it } from 'vitest';
import { decideDue, type RunRow } from '../../../../services/deployments/domain/schedules/fates.ts';
import { jitterMs } from '../../../../services/deployments/domain/schedules/jitter.ts';
import type { Overlap, Timing } from '../../../../services/deployments/domain/schedules/schedule.ts';
import { compileTiming } from '../../../../services/deployments/domain/schedules/timing.ts';
import { seeded } from '../../../chaos/random.ts';
import { expectedTimes, MARGIN_MINUTES } from '../../../support/schedules/oracle.ts';
import { MINUTE_MS, windowOf } from '../../../support/schedules/wall-clocks.ts';
import { cronTiming, everyTiming } from './timings.ts';

const OVERLAPS: Overlap[] = ['skip', 'buffer_one', 'allow', 'cancel_previous'];
const CRONS = ['* * * * *', '*/5 * * * *', '0 * * * *', '30 2 * * *', '15,45 1-3 * * *', '0 */2 * * *'];
const CHANGE = Date.UTC(2026, 9, 25, 1);
const FROM = CHANGE - 12 * 3_600_000;
const UNTIL = CHANGE + 24 * 3_600_000;
const LONGEST_DOWNTIME_MS = 4 * 3_600_000;
const MARGIN_MS = MARGIN_MINUTES * MINUTE_MS;
const window = windowOf('Europe/Berlin', FROM - MARGIN_MS, UNTIL + MARGIN_MS);

interface Example {
  timing: Timing;
  /** All scheduled times, from an oracle. */
  times: number[];
  overlap: Overlap;
  catchUpSeconds: number;
  jitterSeconds: number;
}

function randomExample(random: () => number): Example {
  const below = (limit: number) => Math.floor(random() * limit);
  const overlap = OVERLAPS[below(4)] ?? 'skip';
  const catchUpSeconds = [0, 60, 600, 3_600, 86_400][below(5)] ?? 0;
  if (below(3) === 0) {
    const seconds = [7, 60, 90, 3_600][below(4)] ?? 60;
    const times: number[] = [];
    for (let time = FROM; time < UNTIL; time += seconds * 1000) times.push(time);
    const timing = everyTiming(seconds, { startAt: new Date(FROM) });
    return { timing, times, overlap, catchUpSeconds, jitterSeconds: below(Math.ceil(seconds / 2)) };
  }
  const timing = cronTiming(CRONS[below(CRONS.length)] ?? '', { timezone: 'Europe/Berlin' });
  const times = expectedTimes(timing.cron ?? '', window, timing.dst);
  return { timing, times, overlap, catchUpSeconds, jitterSeconds: below(2) === 0 ? 0 : below(30) };
}

/** Runs the ticker at random times with downtimes. Some commits are lost, and their work is repeated. */
function simulate(example: Example, random: () => number): { rows: RunRow[]; decidedUntil: number } {
  const { timing, times, overlap, catchUpSeconds, jitterSeconds } = example;
  const compiled = compileTiming(timing, new Date(FROM));
  const schedule = { deploymentId: 'dep_1', compiled, jitterSeconds, overlap, catchUpSeconds };
  const dueAt = (time: Date) => time.getTime() + jitterMs('dep_1', time, jitterSeconds);
  const rows: RunRow[] = [];
  let pending: Date | undefined = times[0] === undefined ? undefined : new Date(times[0]);
  let now = FROM;
  while (pending && now < UNTIL - 2 * LONGEST_DOWNTIME_MS) {
    now += Math.floor(random() ** 6 * LONGEST_DOWNTIME_MS) + 500;
    if (dueAt(pending) > now) continue;
    const isUnfinished = random() < 0.5;
    const active = { isUnfinished, isQueued: isUnfinished && random() < 0.5 };
    const decision = decideDue(schedule, pending, new Date(now), active);
    checkDecision(decision.rows, example, now, dueAt);
    // The process was killed before its commit, so the next one decides again.
    if (random() < 0.2) continue;
    rows.push(...decision.rows);
    pending = decision.next?.scheduledFor;
    if (decision.next && decision.next.dueAt.getTime() <= now)
      throw new Error('the next time is due already');
  }
  return { rows, decidedUntil: pending?.getTime() ?? UNTIL };
}

function checkDecision(
  rows: RunRow[],
  { overlap, catchUpSeconds, jitterSeconds }: Example,
  now: number,
  dueAt: (time: Date) => number,
): void {
  const windowMs = (Math.max(catchUpSeconds, 10) + jitterSeconds) * 1000;
  const started = rows.filter(({ status }) => status !== 'missed');
  expect(started.length).toBeLessThanOrEqual(overlap === 'allow' ? 100 : 1);
  for (const { scheduledFor, scheduledUntil, status, reason } of rows) {
    expect(dueAt(scheduledUntil ?? scheduledFor)).toBeLessThanOrEqual(now);
    const isOld = (scheduledUntil ?? scheduledFor).getTime() < now - windowMs;
    expect(isOld).toBe(reason === 'outside_catch_up');
    if (status === 'missed') expect(scheduledUntil).not.toBeNull();
  }
}

/** The times of a row: a missed range has all times of the schedule in it. */
function timesOf({ scheduledFor, scheduledUntil, count }: RunRow, times: number[]): number[] {
  const last = scheduledUntil ?? scheduledFor;
  const inRange = times.filter((time) => time >= scheduledFor.getTime() && time <= last.getTime());
  expect(inRange).toHaveLength(count);
  expect([inRange[0], inRange.at(-1)]).toEqual([scheduledFor.getTime(), last.getTime()]);
  return inRange;
}

describe('every scheduled time has one fate', () => {
  it.each(Array.from({ length: 60 }, (_, index) => index + 1))(
    'with random downtimes and lost commits (%i)',
    (seed) => {
      const random = seeded(seed);
      const example = randomExample(random);
      const { rows, decidedUntil } = simulate(example, random);
      const expected = example.times.filter((time) => time < decidedUntil);
      expect(rows.flatMap((row) => timesOf(row, example.times))).toEqual(expected);
      expect(rows.length).toBeGreaterThan(0);
    },
  );
});
