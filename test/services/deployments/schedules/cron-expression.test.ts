import { describe, expect, it } from 'vitest';
import { parseCron } from '../../../../services/deployments/domain/schedules/cron-expression.ts';
import { cronTiming, firstTimes } from './timings.ts';

describe('cron expressions', () => {
  it.each([
    ['@hourly', '0 * * * *'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@Weekly', '0 0 * * 0'],
    ['@monthly', '0 0 1 * *'],
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['  0\t9  * * Mon-fri ', '0 9 * * Mon-fri'],
  ])('%s is stored as %s', (given, stored) => {
    expect(parseCron(given).text).toBe(stored);
  });

  it.each<[cron: string, days: string[]]>([
    ['0 0 L * *', ['2026-01-31', '2026-02-28']],
    ['0 0 LW * *', ['2026-01-30', '2026-02-27']],
    // 15 February 2026 is a Sunday.
    ['0 0 15W 2 *', ['2026-02-16', '2027-02-15']],
    ['0 0 1W 8 *', ['2026-08-03', '2027-08-02']],
    ['0 0 * * 5#2', ['2026-01-09', '2026-02-13']],
    ['0 0 * * friL', ['2026-01-30', '2026-02-27']],
    ['0 0 * * 0', ['2026-01-04', '2026-01-11']],
    ['0 0 * * 7', ['2026-01-04', '2026-01-11']],
    ['0 0 * * SAT-SUN', ['2026-01-03', '2026-01-04']],
    ['0 0 * JAN-MAR/2 mon', ['2026-01-05', '2026-01-12']],
    // Either day field matches: day 2, or a Monday.
    ['0 0 2 * MON', ['2026-01-02', '2026-01-05']],
    // A day field that begins with * restricts the other one, as in Vixie cron: odd days that are a Monday.
    ['0 0 */2 * MON', ['2026-01-05', '2026-01-19']],
  ])('%s has its first times in 2026 on %j', (cron, days) => {
    const times = firstTimes(cronTiming(cron), '2026-01-01T00:00:01Z', 2);
    expect(times.map((time) => time.slice(0, 10))).toEqual(days);
  });

  it.each([
    ['', 'five fields'],
    ['* * * *', 'but has 4'],
    ['0 * * * * *', 'use every_seconds'],
    ['@reboot', 'one of @hourly'],
    ['H * * * *', 'Use jitter_seconds'],
    ['H/15 * * * *', 'Use jitter_seconds'],
    ['? * * * *', 'Write *'],
    ['0 0 ? * MON', 'Write *'],
    ['60 * * * *', '0 to 59'],
    ['* 24 * * *', '0 to 23'],
    ['* * 0 * *', '1 to 31'],
    ['* * 32W * *', 'day of month field'],
    ['* * * 13 *', '1 to 12'],
    ['* * * * 8', '0 to 7'],
    ['5/10 * * * *', 'Write 5-59/10'],
    ['*/0 * * * *', '1 to 60'],
    ['*/61 * * * *', '1 to 60'],
    ['30-10 * * * *', 'end is before its start'],
    ['* * * * FRI-MON', 'end is before its start'],
    ['1,,2 * * * *', 'empty part'],
    ['* * * * SUN6', 'SUN6'],
    ['* * * FOO *', 'FOO'],
    ['* * * * MON#6', 'MON#6'],
    ['* * * * MON-FRI#2', 'MON-FRI#2'],
    ['* * * * 5#L', '5#L'],
    ['* * * * L', 'day of week field'],
    ['* * L-3 * *', 'L-3'],
    ['* * LW,1 * *', 'LW'],
    ['* * 1-5W * *', '1-5W'],
    ['* * * * +MON', '+MON'],
    ['0\n0 * * *', 'four'],
    ['-1 * * * *', '-1'],
    ['1e1 * * * *', '1e1'],
    [`0 0 * * ${'1,'.repeat(600)}1`, 'at most 1000 characters'],
  ])('refuses %j', (cron, text) => {
    const expected = text === 'four' ? 'but has 4' : text;
    expect(() => parseCron(cron)).toThrow(
      expect.objectContaining({
        code: 'INVALID_SCHEDULE',
        message: expect.stringContaining(expected),
        details: [expect.objectContaining({ pointer: '/cron' })],
      }),
    );
  });
});
