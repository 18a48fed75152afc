import { type Static, Type } from 'typebox';
import type { Clock } from '../../../lib/clock.ts';
import { ToolError } from '../tool-calls/tool-error.ts';

const Input = Type.Object(
  {
    time_zone: Type.Optional(
      Type.String({ description: 'A name of the IANA time zone database, for example Europe/Berlin.' }),
    ),
  },
  { additionalProperties: false },
);

const DATE = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
const TIME = { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' } as const;

/** Returns `{utc, local?, time_zone?, weekday}`: RFC 3339 times and the weekday in the requested time zone. */
export function createCurrentTime(clock: Clock) {
  return {
    input: Input,
    run({ time_zone }: Static<typeof Input>) {
      const now = clock.now();
      const utc = `${now.toISOString().slice(0, 19)}Z`;
      if (time_zone === undefined) return { utc, weekday: weekday(now, 'UTC') };
      return { utc, local: local(now, time_zone), time_zone, weekday: weekday(now, time_zone) };
    },
  };
}

function format(timeZone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', { ...options, timeZone });
  } catch {
    throw new ToolError(`Unknown time zone ${timeZone}. Use a name of the IANA time zone database.`);
  }
}

function local(now: Date, timeZone: string): string {
  const parts = format(timeZone, { ...DATE, ...TIME, timeZoneName: 'longOffset' }).formatToParts(now);
  const { year, month, day, hour, minute, second, timeZoneName } = Object.fromEntries(
    parts.map(({ type, value }) => [type, value]),
  );
  const offset = timeZoneName?.replace('GMT', '') || '+00:00';
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`;
}

function weekday(now: Date, timeZone: string): string {
  return format(timeZone, { weekday: 'long' }).format(now);
}
