import type { Timing } from '../../../services/deployments/domain/schedules/schedule.ts';
import { compileTiming } from '../../../services/deployments/domain/schedules/timing.ts';
import { seeded } from '../../chaos/random.ts';
import { randomDst, randomExpression } from './expressions.ts';
import { type DaylightSaving, expectedTimes, MARGIN_MINUTES } from './oracle.ts';
import { changesBetween, MINUTE_MS, type Window, wallAt, windowOf } from './wall-clocks.ts';

const DAY_MS = 86_400_000;
const MARGIN_MS = MARGIN_MINUTES * MINUTE_MS;
/** Before and after a change, without the margin. */
const AROUND_MS = DAY_MS;

/** Zones with every kind of change: half an hour, two hours, at midnight, a skipped day, negative, and none. */
export const ZONES = (
  'Europe/Berlin Europe/London Europe/Dublin Europe/Moscow Europe/Istanbul Atlantic/Azores Atlantic/Reykjavik ' +
  'America/New_York America/Chicago America/Los_Angeles America/St_Johns America/Sao_Paulo America/Santiago ' +
  'America/Asuncion America/Havana America/Caracas America/Mexico_City America/Nuuk America/Anchorage America/Phoenix ' +
  'America/Bogota America/Argentina/San_Luis America/Miquelon America/Port-au-Prince America/Adak Africa/Casablanca ' +
  'Africa/Cairo Africa/Lagos Africa/Khartoum Africa/Juba Africa/Windhoek Asia/Tokyo Asia/Kolkata Asia/Kathmandu ' +
  'Asia/Tehran Asia/Gaza Asia/Beirut Asia/Amman Asia/Damascus Asia/Pyongyang Asia/Shanghai Asia/Kabul Asia/Novosibirsk ' +
  'Asia/Dhaka Asia/Ulaanbaatar Australia/Sydney Australia/Adelaide Australia/Lord_Howe Australia/Eucla ' +
  'Antarctica/Troll Antarctica/Casey Pacific/Auckland Pacific/Chatham Pacific/Apia Pacific/Fiji Pacific/Tongatapu ' +
  'Pacific/Norfolk Pacific/Kiritimati Pacific/Bougainville UTC'
).split(' ');

/** The instants from which windows are made: every change of the years, and one random instant for each year. */
export function instantsOf(zone: string, firstYear: number, years: number, random: () => number): number[] {
  const from = Date.UTC(firstYear, 0);
  const until = Date.UTC(firstYear + years, 0);
  const others = Array.from(
    { length: years },
    () => Math.floor((from + random() * (until - from)) / MINUTE_MS) * MINUTE_MS,
  );
  return [...changesBetween(zone, from, until), ...others];
}

export interface Difference {
  zone: string;
  expression: string;
  dst: DaylightSaving;
  /** The first instants that only one of both has, or counts that differ. */
  detail: string;
}

export interface Comparison {
  times: number;
  differences: Difference[];
}

/** Compares the product with the oracle around one instant, with random expressions. */
export function compareAround(zone: string, instant: number, expressions: number, seed: number): Comparison {
  const random = seeded(seed);
  const extent = AROUND_MS + MARGIN_MS;
  const window = windowOf(zone, instant - extent, instant + extent);
  const hour = Math.floor(wallAt(zone, instant) / 60) % 24;
  const near = [0, 1, 2, 3, (hour + 22) % 24, (hour + 23) % 24, hour];
  const comparison: Comparison = { times: 0, differences: [] };
  for (let index = 0; index < expressions; index++) {
    const expression = randomExpression(random, near);
    const dst = randomDst(random);
    const expected = expectedTimes(expression, window, dst);
    const detail = differenceOf(expression, dst, window, expected);
    comparison.times += expected.length;
    if (detail) comparison.differences.push({ zone, expression, dst, detail });
  }
  return comparison;
}

function differenceOf(
  expression: string,
  dst: DaylightSaving,
  { zone, from, until }: Window,
  expected: number[],
): string | undefined {
  const timing: Timing = {
    kind: 'cron',
    cron: expression,
    everySeconds: null,
    at: null,
    timezone: zone,
    startAt: null,
    endAt: null,
    dst,
  };
  const compiled = compileTiming(timing, new Date(0));
  const first = new Date(from + MARGIN_MS);
  const end = new Date(until - MARGIN_MS);
  const actual = compiled.between(first, end, Infinity).map(({ at }) => at.getTime());
  const texts = (times: number[]) => times.slice(0, 3).map((time) => new Date(time).toISOString());
  const extra = actual.filter((time) => !expected.includes(time));
  const lost = expected.filter((time) => !actual.includes(time));
  if (extra.length > 0 || lost.length > 0)
    return `only the product: ${texts(extra)}, only the oracle: ${texts(lost)}`;
  const count = compiled.count(first, end);
  if (count !== expected.length) return `counts ${count}, but lists ${expected.length}`;
  const middle = new Date((first.getTime() + end.getTime()) / 2);
  const later = expected.filter((time) => time >= middle.getTime()).length;
  if (compiled.count(middle, end) !== later)
    return `counts ${compiled.count(middle, end)} from the middle, not ${later}`;
  const latest = compiled.latest(first, end, 5).map((time) => time.getTime());
  if (String(latest) !== String(expected.slice(-5))) return `has the latest times ${texts(latest)}`;
  return undefined;
}
