import { Type } from 'typebox';
import type {
  DaylightSaving,
  Timing,
  TimingChange,
  UpcomingTime,
} from '../../../proto/gen/ahs/deployments/v1/schedules.ts';
import { closed, NULL, nullable, optional, serializeTime, text, time } from '../common.ts';

const MAX_INT32 = 2_147_483_647;
/** Ten years. */
const MAX_INTERVAL_SECONDS = 315_360_000;

export const jitterSeconds = Type.Integer({
  title: 'JitterSeconds',
  minimum: 0,
  maximum: MAX_INT32,
  description:
    'The largest delay of a run in seconds, at most 3600 and less than half of the shortest distance between two times. ' +
    'The delay of a time is always the same.',
  examples: [0],
});

/** The members of a response. */
export const timing = {
  cron: nullable(
    text(
      'Five fields: minute, hour, day of month, month and day of week, with names, lists, ranges, steps, `L`, `#` and `W`; or ' +
        '`@hourly`, `@daily`, `@weekly`, `@monthly` or `@yearly`, which are stored as five fields.',
      { maxLength: 256, examples: ['0 9 * * 1-5'] },
    ),
    { title: 'CronExpression' },
  ),
  every_seconds: nullable(
    Type.Integer({
      minimum: 1,
      maximum: MAX_INTERVAL_SECONDS,
      description:
        'The interval in seconds from `start_at`, or from the creation. Daylight saving has no effect on it. At least ' +
        '`SERVICE_SCHEDULE_MIN_INTERVAL_SECONDS`.',
    }),
    { title: 'IntervalSeconds', ...NULL },
  ),
  at: nullable(time('The only time.'), { title: 'SingleTime', ...NULL }),
  timezone: text('The IANA time zone of `cron`.', {
    title: 'TimeZone',
    maxLength: 64,
    examples: ['Europe/Berlin'],
  }),
  start_at: nullable(time('Earlier times do not count.'), { title: 'StartTime', ...NULL }),
  end_at: nullable(time('Later times do not count.'), { title: 'EndTime', ...NULL }),
};

const missing = Type.Enum(['shift', 'skip'], {
  title: 'MissingTimes',
  description: 'A fixed time that does not exist runs when the clock has moved on, or not at all.',
});
const repeated = Type.Enum(['first', 'last', 'both'], {
  title: 'RepeatedTimes',
  description: 'A fixed time that occurs twice runs at the first, at the last or at both.',
});
const DST = 'Fixed times of `cron` when clocks change. Hours `*` and `*/n` follow elapsed time.';

export const daylightSaving = Type.Object(
  { missing, repeated },
  { title: 'DaylightSaving', description: DST },
);

/** The members of a request. Exactly one of `cron`, `every_seconds` and `at` is set. */
export const newTiming = {
  cron: optional(timing.cron),
  every_seconds: optional(timing.every_seconds),
  at: optional(timing.at),
  timezone: optional(timing.timezone),
  start_at: optional(timing.start_at),
  end_at: optional(timing.end_at),
  dst: optional(
    closed(
      { missing: optional(missing), repeated: optional(repeated) },
      { title: 'DaylightSavingSettings', description: DST },
    ),
  ),
};

export const UpcomingTimeShape = Type.Object(
  {
    scheduled_for: time('The scheduled time.'),
    due_at: time('The scheduled time and its jitter. A schedule that does not exist yet has no jitter.'),
    local: text('The wall-clock time in the time zone.', { examples: ['2026-03-29T09:00:00'] }),
    utc_offset: text('The offset of the wall-clock time from UTC.', { examples: ['+02:00'] }),
    note: nullable(
      Type.Enum(['shifted', 'repeated'], {
        description: 'The clocks change: the time was moved, or its wall-clock time occurs twice.',
      }),
      NULL,
    ),
  },
  { title: 'UpcomingTime' },
);

interface TimingBody {
  cron?: string | null;
  every_seconds?: number | null;
  at?: string | null;
  timezone?: string;
  start_at?: string | null;
  end_at?: string | null;
  dst?: { missing?: string; repeated?: string };
}

/** Converts a time of a request that can be absent or null. */
export const dateOf = (value: string | null | undefined) => (value ? new Date(value) : undefined);

function daylightSavingOf(dst: TimingBody['dst']): DaylightSaving | undefined {
  return dst && { missing: dst.missing ?? '', repeated: dst.repeated ?? '' };
}

const kindOf = (body: TimingBody) => ({
  cron: body.cron ?? undefined,
  everySeconds: body.every_seconds ?? undefined,
  at: dateOf(body.at),
});

export function timingOf(body: TimingBody): Timing {
  return {
    ...kindOf(body),
    timezone: body.timezone ?? '',
    startAt: dateOf(body.start_at),
    endAt: dateOf(body.end_at),
    dst: daylightSavingOf(body.dst),
  };
}

const KINDS = ['cron', 'every_seconds', 'at'] as const;

/** Converts the timing of a change. A member that names a kind replaces the kind of the schedule. */
export function timingChangeOf(body: TimingBody): TimingChange {
  const optionalTime = (value: string | null | undefined) =>
    value === undefined ? undefined : { time: dateOf(value) };
  return {
    ...kindOf(body),
    replacesKind: KINDS.some((kind) => body[kind] !== undefined),
    timezone: body.timezone,
    startAt: optionalTime(body.start_at),
    endAt: optionalTime(body.end_at),
    dst: daylightSavingOf(body.dst),
  };
}

export function serializeUpcomingTime({ scheduledFor, dueAt, local, utcOffset, note }: UpcomingTime) {
  return {
    scheduled_for: serializeTime(scheduledFor),
    due_at: serializeTime(dueAt),
    local,
    utc_offset: utcOffset,
    note: note || null,
  };
}
