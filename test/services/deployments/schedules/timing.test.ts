import { describe, expect, it } from 'vitest';
import type { Timing } from '../../../../services/deployments/domain/schedules/schedule.ts';
import { compileTiming } from '../../../../services/deployments/domain/schedules/timing.ts';
import { atTiming, CREATED_AT, cronTiming, everyTiming, firstTimes } from './timings.ts';

const inBerlin = (cron: string, dst?: Timing['dst']) =>
  cronTiming(cron, { timezone: 'Europe/Berlin', ...(dst && { dst }) });

describe('when clocks move forward', () => {
  it('runs a fixed time in the gap once, at the end of the gap', () => {
    expect(firstTimes(inBerlin('30 2 * * *'), '2026-03-28T00:00:00Z', 3)).toEqual([
      '2026-03-28T02:30:00+01:00',
      '2026-03-29T03:00:00+02:00 shifted',
      '2026-03-30T02:30:00+02:00',
    ]);
  });

  it('runs two fixed times in the gap as one', () => {
    expect(firstTimes(inBerlin('10,50 2 * * *'), '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T03:00:00+02:00 shifted',
      '2026-03-30T02:10:00+02:00',
    ]);
  });

  it('runs a time at the end of the gap and a shifted time as one', () => {
    expect(firstTimes(inBerlin('0 2,3 * * *'), '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T03:00:00+02:00',
      '2026-03-30T02:00:00+02:00',
    ]);
  });

  it('leaves out a fixed time in the gap with missing: skip', () => {
    const skipping = inBerlin('30 2 * * *', { missing: 'skip', repeated: 'first' });
    expect(firstTimes(skipping, '2026-03-28T12:00:00Z', 1)).toEqual(['2026-03-30T02:30:00+02:00']);
  });

  it('runs nothing in the gap for an hour field with *', () => {
    expect(firstTimes(inBerlin('30 * * * *'), '2026-03-29T00:00:00Z', 2)).toEqual([
      '2026-03-29T01:30:00+01:00',
      '2026-03-29T03:30:00+02:00',
    ]);
    expect(firstTimes(inBerlin('30 */2 * * *'), '2026-03-28T23:00:00Z', 2)).toEqual([
      '2026-03-29T00:30:00+01:00',
      '2026-03-29T04:30:00+02:00',
    ]);
  });

  it('runs a midnight that does not exist at the first instant of the day', () => {
    const saoPaulo = cronTiming('@daily', { timezone: 'America/Sao_Paulo' });
    expect(firstTimes(saoPaulo, '2017-10-15T00:00:00Z', 2)).toEqual([
      '2017-10-15T01:00:00-02:00 shifted',
      '2017-10-16T00:00:00-02:00',
    ]);
  });

  it('runs the times of a skipped day once, at its end', () => {
    const samoa = cronTiming('0 9,17 * * *', { timezone: 'Pacific/Apia' });
    expect(firstTimes(samoa, '2011-12-30T00:00:00Z', 3)).toEqual([
      '2011-12-29T17:00:00-10:00',
      '2011-12-31T00:00:00+14:00 shifted',
      '2011-12-31T09:00:00+14:00',
    ]);
  });
});

describe('when clocks move back', () => {
  const FROM = '2026-10-24T22:30:00Z';

  it('runs a fixed time that occurs twice at the first', () => {
    expect(firstTimes(inBerlin('30 2 * * *'), FROM, 2)).toEqual([
      '2026-10-25T02:30:00+02:00 repeated',
      '2026-10-26T02:30:00+01:00',
    ]);
  });

  it.each([
    ['last', ['2026-10-25T02:30:00+01:00 repeated', '2026-10-26T02:30:00+01:00']],
    ['both', ['2026-10-25T02:30:00+02:00 repeated', '2026-10-25T02:30:00+01:00 repeated']],
  ] as const)('runs a fixed time that occurs twice at %s when set', (repeated, times) => {
    expect(firstTimes(inBerlin('30 2 * * *', { missing: 'shift', repeated }), FROM, 2)).toEqual(times);
  });

  it('runs in both hours for an hour field with *', () => {
    expect(firstTimes(inBerlin('0 * * * *'), '2026-10-25T00:00:00Z', 3)).toEqual([
      '2026-10-25T02:00:00+02:00 repeated',
      '2026-10-25T02:00:00+01:00 repeated',
      '2026-10-25T03:00:00+01:00',
    ]);
  });

  it('runs a list of fixed hours once in the repeated hour', () => {
    const newYork = cronTiming('15 1,2 * * *', { timezone: 'America/New_York' });
    expect(firstTimes(newYork, '2026-11-01T04:00:00Z', 3)).toEqual([
      '2026-11-01T01:15:00-04:00 repeated',
      '2026-11-01T02:15:00-05:00',
      '2026-11-02T01:15:00-05:00',
    ]);
  });

  it('repeats half an hour in Lord Howe', () => {
    const lordHowe = cronTiming('0,45 1 * * *', { timezone: 'Australia/Lord_Howe' });
    expect(firstTimes(lordHowe, '2026-04-04T12:00:00Z', 3)).toEqual([
      '2026-04-05T01:00:00+11:00',
      '2026-04-05T01:45:00+11:00 repeated',
      '2026-04-06T01:00:00+10:30',
    ]);
  });
});

describe('intervals and single times', () => {
  it('count elapsed time from the creation, without regard to clocks', () => {
    const every = everyTiming(3_600, { timezone: 'Europe/Berlin' });
    expect(firstTimes(every, '2026-03-29T00:00:00Z', 2)).toEqual([
      '2026-03-29T01:00:00+01:00',
      '2026-03-29T03:00:00+02:00',
    ]);
    expect(compileTiming(every, CREATED_AT).after(CREATED_AT)?.at).toEqual(
      new Date('2026-01-01T01:00:00.500Z'),
    );
  });

  it('count from start_at, which is the first time', () => {
    const every = everyTiming(90, { startAt: new Date('2026-05-01T00:00:10Z') });
    expect(firstTimes(every, '2026-01-02T00:00:00Z', 2)).toEqual([
      '2026-05-01T00:00:10+00:00',
      '2026-05-01T00:01:40+00:00',
    ]);
  });

  it('end with end_at, which still counts', () => {
    const bounds = { startAt: new Date('2026-05-01T00:00:00Z'), endAt: new Date('2026-05-01T02:00:00Z') };
    const hourly = compileTiming(cronTiming('@hourly', bounds), CREATED_AT);
    const [from, until] = [new Date('2026-01-01T00:00:00Z'), new Date('2027-01-01T00:00:00Z')];
    expect(hourly.between(from, until, 10)).toHaveLength(3);
    expect(hourly.count(from, until)).toBe(3);
    expect(hourly.latest(from, until, 2)).toEqual([
      new Date('2026-05-01T01:00:00Z'),
      new Date('2026-05-01T02:00:00Z'),
    ]);
    expect(hourly.after(new Date('2026-05-01T02:00:00Z'))).toBeUndefined();
  });

  it('run once at a single time', () => {
    const at = atTiming('2026-05-01T00:00:00Z');
    const compiled = compileTiming(at, CREATED_AT);
    expect(compiled.after(new Date('2026-04-30T23:59:59.999Z'))?.at).toEqual(
      new Date('2026-05-01T00:00:00Z'),
    );
    expect(compiled.after(new Date('2026-05-01T00:00:00Z'))).toBeUndefined();
  });

  it.each([0, 1, 59_999, 60_000, 3_600_000 * 24 * 400])(
    'are counted as they are listed after %i ms',
    (ms) => {
      const compiled = compileTiming(everyTiming(60), CREATED_AT);
      const from = new Date(CREATED_AT.getTime() - 90_000 + ms);
      const until = new Date(from.getTime() + 600_000);
      const listed = compiled.between(from, until, Infinity).map(({ at }) => at);
      expect(compiled.count(from, until)).toBe(listed.length);
      expect(compiled.latest(from, until, 3)).toEqual(listed.slice(-3));
    },
  );
});

describe('long ranges', () => {
  it('are counted without a list', () => {
    const everyMinute = compileTiming(cronTiming('* * * * *', { timezone: 'Europe/Berlin' }), CREATED_AT);
    const [from, until] = [new Date('2016-01-01T00:00:00Z'), new Date('2026-01-01T00:00:00Z')];
    expect(everyMinute.count(from, until)).toBe((until.getTime() - from.getTime()) / 60_000);
    expect(everyMinute.latest(from, until, 2)).toEqual([
      new Date('2025-12-31T23:58:00Z'),
      new Date('2025-12-31T23:59:00Z'),
    ]);
  });

  it('reach a rare time over decades', () => {
    const leapSunday = cronTiming('0 0 29 2 */7', { timezone: 'America/New_York' });
    expect(firstTimes(leapSunday, '2033-01-01T00:00:00Z', 2)).toEqual([
      '2060-02-29T00:00:00-05:00',
      '2088-02-29T00:00:00-05:00',
    ]);
  });
});

it.each(['Mars/Phobos', '+02:00', '', 'Europe/Berlin ', 'a'.repeat(100)])(
  'refuses the time zone "%s"',
  (timezone) => {
    expect(() => compileTiming(cronTiming('@daily', { timezone }), CREATED_AT)).toThrow(
      expect.objectContaining({
        code: 'INVALID_SCHEDULE',
        details: [expect.objectContaining({ pointer: '/timezone' })],
      }),
    );
  },
);
