import type { Clock } from '../../../lib/clock.ts';
import type { Deployment } from '../domain/deployments.ts';
import { jitterMs } from '../domain/schedules/jitter.ts';
import type { ScheduleSettings, Timing } from '../domain/schedules/schedule.ts';
import type { ScheduledTime } from '../domain/schedules/timing.ts';
import type { ScheduledDeployment } from '../store/schedules.ts';
import type { CompiledTimings } from './compiled-timings.ts';

/** The latest time that JavaScript can represent. */
const END_OF_TIME = new Date(8_640_000_000_000_000);

interface NextTime {
  nextAt: Date | null;
  dueAt: Date | null;
}

export type ScheduleTimes = ReturnType<typeof createScheduleTimes>;

/** Computes the times of stored schedules. */
export function createScheduleTimes({ timings, clock }: { timings: CompiledTimings; clock: Clock }) {
  const dueAtOf = (deploymentId: string, at: Date, jitterSeconds: number) =>
    new Date(at.getTime() + jitterMs(deploymentId, at, jitterSeconds));

  function nextAfter(
    { deploymentId, createdAt }: Pick<Deployment, 'deploymentId' | 'createdAt'>,
    { timing, jitterSeconds }: Pick<ScheduleSettings, 'timing' | 'jitterSeconds'>,
    after: Date,
  ): NextTime {
    const next = timings.compile(timing, createdAt).after(after)?.at;
    if (!next) return { nextAt: null, dueAt: null };
    return { nextAt: next, dueAt: dueAtOf(deploymentId, next, jitterSeconds) };
  }

  return {
    dueAt: dueAtOf,

    /** The first time of a new timing. A single time may lie within the catch-up window before now. */
    first(deployment: Deployment, settings: ScheduleSettings, now: Date): NextTime {
      const { at } = settings.timing;
      const after = at && at <= now ? new Date(at.getTime() - 1) : now;
      return nextAfter(deployment, settings, after);
    },

    /** The first time after now. */
    next: nextAfter,

    /** The next times of an enabled schedule, at most `count`. */
    pending({ deployment, schedule }: ScheduledDeployment, count: number): Date[] {
      const { nextAt, settings } = schedule;
      if (!nextAt || count === 0) return [];
      const compiled = timings.compile(settings.timing, deployment.createdAt);
      return compiled.between(nextAt, END_OF_TIME, count).map(({ at }) => at);
    },

    /** The times from a time on (inclusive), or after now. */
    upcoming(timing: Timing, createdAt: Date, from: Date | undefined, count: number): ScheduledTime[] {
      const start = from ?? new Date(clock.now().getTime() + 1);
      return timings.compile(timing, createdAt).between(start, END_OF_TIME, count);
    },

    /** The times of a range, at most `limit`. */
    between: (timing: Timing, createdAt: Date, from: Date, until: Date, limit: number): Date[] =>
      timings
        .compile(timing, createdAt)
        .between(from, until, limit)
        .map(({ at }) => at),
  };
}
