import type { Timing } from '../../../../services/deployments/domain/schedules/schedule.ts';
import { compileTiming } from '../../../../services/deployments/domain/schedules/timing.ts';

const NONE: Omit<Timing, 'kind'> = {
  cron: null,
  everySeconds: null,
  at: null,
  timezone: 'UTC',
  startAt: null,
  endAt: null,
  dst: { missing: 'shift', repeated: 'first' },
};

export const cronTiming = (cron: string, more: Partial<Timing> = {}): Timing => ({
  ...NONE,
  kind: 'cron',
  cron,
  ...more,
});

export const everyTiming = (everySeconds: number, more: Partial<Timing> = {}): Timing => ({
  ...NONE,
  kind: 'every',
  everySeconds,
  ...more,
});

export const atTiming = (at: string, more: Partial<Timing> = {}): Timing => ({
  ...NONE,
  kind: 'at',
  at: new Date(at),
  ...more,
});

export const CREATED_AT = new Date('2026-01-01T00:00:00.500Z');

/** The first times from an instant on: wall-clock time, offset, and the note if there is one. */
export function firstTimes(timing: Timing, from: string, limit: number): string[] {
  return compileTiming(timing, CREATED_AT)
    .between(new Date(from), new Date('2999-01-01T00:00:00Z'), limit)
    .map(({ local, utcOffset, note }) => `${local}${utcOffset}${note ? ` ${note}` : ''}`);
}
