import { FieldProblems } from '../../../../lib/field-problems.ts';
import { parseCron } from './cron-expression.ts';
import { refuseSchedule } from './refusal.ts';
import type { Timing } from './schedule.ts';
import { type CompiledTiming, compileTiming } from './timing.ts';

/** The timing in a request. Enumerations are unchecked text. */
export interface TimingRequest {
  cron?: string | undefined;
  everySeconds?: number | undefined;
  at: Date | undefined;
  /** Empty: UTC. */
  timezone: string;
  startAt: Date | undefined;
  endAt: Date | undefined;
  /** Absent or empty: shift and first. */
  dst: { missing: string; repeated: string } | undefined;
}

export interface TimingLimits {
  /** The shortest distance between two times. */
  minIntervalSeconds: number;
}

interface TimingContext {
  now: Date;
  /** An `at` before it is refused. */
  earliest: Date;
  /** The origin of an interval without a start. */
  createdAt: Date;
  jitterSeconds: number;
}

const MISSING = ['shift', 'skip'] as const;
const REPEATED = ['first', 'last', 'both'] as const;
/** Ten years. */
const MAX_INTERVAL_SECONDS = 315_360_000;
const TEN_YEARS_MS = 3_653 * 86_400_000;
const CHECKED_TIMES = 100;

/** Checks the timing of a schedule and returns it as it is stored. Refused with INVALID_SCHEDULE. */
export function checkTiming(
  request: TimingRequest | undefined,
  context: TimingContext,
  limits: TimingLimits,
): Timing {
  const timing = normalize(request);
  checkMembers(timing, context, limits);
  const compiled = compileTiming(timing, context.createdAt);
  if (timing.kind !== 'at') {
    checkFirst(timing, compiled, context);
    checkDistances(timing, compiled, context, limits);
  }
  return timing;
}

/** Expands nicknames and sets defaults. Enumerations are checked afterwards. */
function normalize(request: TimingRequest | undefined): Timing {
  const { cron, everySeconds, at } = request ?? {};
  const given = [
    cron === undefined ? '' : '/cron',
    everySeconds === undefined ? '' : '/every_seconds',
    at === undefined ? '' : '/at',
  ].filter((pointer) => pointer !== '');
  const [first, second] = given;
  if (!request || !first) throw refuseSchedule('/cron', 'must be set, or every_seconds or at');
  if (second) throw refuseSchedule(second, `must not be set together with ${first.slice(1)}`);
  const { timezone, startAt, endAt, dst } = request;
  return {
    kind: cron !== undefined ? 'cron' : everySeconds !== undefined ? 'every' : 'at',
    cron: cron === undefined ? null : parseCron(cron).text,
    everySeconds: everySeconds ?? null,
    at: at ?? null,
    timezone: timezone || 'UTC',
    startAt: startAt ?? null,
    endAt: endAt ?? null,
    dst: {
      missing: (dst?.missing || 'shift') as Timing['dst']['missing'],
      repeated: (dst?.repeated || 'first') as Timing['dst']['repeated'],
    },
  };
}

function checkMembers(timing: Timing, { earliest }: TimingContext, limits: TimingLimits): void {
  const { everySeconds, at, startAt, endAt, dst } = timing;
  const problems = new FieldProblems();
  problems.oneOf('/dst/missing', dst.missing, MISSING);
  problems.oneOf('/dst/repeated', dst.repeated, REPEATED);
  if (everySeconds !== null)
    problems.range('/every_seconds', everySeconds, limits.minIntervalSeconds, MAX_INTERVAL_SECONDS);
  if (startAt && endAt && endAt < startAt) problems.add('/end_at', 'must not be before start_at');
  if (at && at < earliest) problems.add('/at', 'must not be in the past by more than catch_up_seconds');
  if (at && ((startAt && at < startAt) || (endAt && at > endAt)))
    problems.add('/at', 'must not be before start_at or after end_at');
  problems.throwIfAny('INVALID_SCHEDULE');
}

function checkFirst(timing: Timing, compiled: CompiledTiming, { now, createdAt }: TimingContext): void {
  const pointer = timing.kind === 'cron' ? '/cron' : '/every_seconds';
  const reference = timing.startAt && timing.startAt > now ? timing.startAt : now;
  const isSoon = (first: Date | undefined) => first && first.getTime() - reference.getTime() <= TEN_YEARS_MS;
  if (isSoon(compiled.after(now)?.at)) return;
  if (timing.endAt && isSoon(compileTiming({ ...timing, endAt: null }, createdAt).after(now)?.at))
    throw refuseSchedule('/end_at', 'is before the first time of the schedule');
  throw refuseSchedule(pointer, 'has no time in the next ten years');
}

function checkDistances(
  timing: Timing,
  compiled: CompiledTiming,
  { now, jitterSeconds }: TimingContext,
  { minIntervalSeconds }: TimingLimits,
): void {
  const shortest = shortestDistance(compiled, now);
  if (shortest < minIntervalSeconds)
    throw refuseSchedule(
      timing.kind === 'cron' ? '/cron' : '/every_seconds',
      `has times that are ${shortest} seconds apart; the shortest allowed distance is ${minIntervalSeconds} seconds`,
    );
  refuseJitter(jitterSeconds, shortest);
}

/** Checks a new jitter of an unchanged timing. */
export function checkJitter(timing: Timing, { now, createdAt, jitterSeconds }: TimingContext): void {
  refuseJitter(jitterSeconds, shortestDistance(compileTiming(timing, createdAt), now));
}

/** A shorter jitter never changes the order of two times. */
function refuseJitter(jitterSeconds: number, shortest: number): void {
  if (jitterSeconds > 0 && jitterSeconds * 2 >= shortest)
    throw refuseSchedule(
      '/jitter_seconds',
      `must be less than half of the shortest distance between two times, which is ${shortest} seconds`,
    );
}

/** In seconds, of the next times. Infinity for a single time. */
function shortestDistance(compiled: CompiledTiming, now: Date): number {
  const times: Date[] = [];
  for (let time = compiled.after(now); time && times.length < CHECKED_TIMES; time = compiled.after(time.at))
    times.push(time.at);
  const distances = times.slice(1).map((time, index) => time.getTime() - (times[index]?.getTime() ?? 0));
  return Math.min(...distances) / 1000;
}
