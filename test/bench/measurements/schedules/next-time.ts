import { compileTiming } from '../../../../services/deployments/domain/schedules/timing.ts';

/** CPU time of one thread in microseconds. */
export interface NextTimeCosts {
  /** Parsing an expression and finding its first time. */
  firstUs: number;
  /** The next time of an expression that is compiled. */
  nextUs: number;
  /** Counting the times of a minutely expression over a year. */
  countYearUs: number;
}

/** Expressions and zones as they are common, and the most expensive ones. */
const TIMINGS: [cron: string, timezone: string][] = [
  ['0 9 * * 1-5', 'Europe/Berlin'],
  ['*/5 * * * *', 'America/New_York'],
  ['30 2 1 * *', 'Asia/Tokyo'],
  ['15,45 8-18/2 * * MON-FRI', 'Australia/Sydney'],
  ['0 0 L * *', 'UTC'],
  ['0 6 * JAN,JUL 1#1', 'America/Sao_Paulo'],
];
const TIMES = 20_000;
const COUNTS = 50;
const CREATED_AT = new Date('2026-01-01T00:00:00Z');
const YEAR_MS = 365 * 86_400_000;
/** Instants differ, so that no search repeats the last one. */
const STEP_MS = 7_919_000;

const compile = (cron: string, timezone: string) =>
  compileTiming(
    {
      kind: 'cron',
      cron,
      everySeconds: null,
      at: null,
      timezone,
      startAt: null,
      endAt: null,
      dst: { missing: 'shift', repeated: 'first' },
    },
    CREATED_AT,
  );

const instant = (index: number) => new Date(CREATED_AT.getTime() + ((index * STEP_MS) % YEAR_MS));

/** The zones' changes are known after the first round, as in a process that has run for some time. */
export function measureNextTime(): NextTimeCosts {
  const compiled = TIMINGS.map(([cron, timezone]) => compile(cron, timezone));
  const everyMinute = compile('* * * * *', 'Europe/Berlin');
  const first = (index: number) => {
    const [cron, timezone] = TIMINGS[index % TIMINGS.length] ?? ['* * * * *', 'UTC'];
    return compile(cron, timezone).after(instant(index));
  };
  const next = (index: number) => compiled[index % compiled.length]?.after(instant(index));
  const count = (index: number) =>
    everyMinute.count(instant(index), new Date(instant(index).getTime() + YEAR_MS));
  for (let index = 0; index < TIMES; index++) {
    first(index);
    next(index);
  }
  return {
    firstUs: cpuUs(TIMES, first),
    nextUs: cpuUs(TIMES, next),
    countYearUs: cpuUs(COUNTS, count),
  };
}

function cpuUs(times: number, work: (index: number) => unknown): number {
  const start = process.cpuUsage();
  for (let index = 0; index < times; index++) work(index);
  const { user, system } = process.cpuUsage(start);
  return (user + system) / times;
}
