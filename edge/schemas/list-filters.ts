import { Type } from 'typebox';
import { refuseField } from '../../lib/errors.ts';
import { MAX_FILTER_MEMBERS } from '../../lib/metadata-filter.ts';
import { optional } from './common.ts';

const instant = (description: string) =>
  optional(
    Type.String({
      maxLength: 40,
      description: `${description} A time as in RFC 3339.`,
      examples: ['2026-01-01T12:00:00Z'],
    }),
  );

/** The query parameters of lists of resources with metadata. */
export const metadataAndTimeFilters = {
  metadata: optional(
    Type.Unsafe<Record<string, string>>({
      type: 'object',
      maxProperties: MAX_FILTER_MEMBERS,
      propertyNames: { minLength: 1, maxLength: 64 },
      additionalProperties: { type: 'string', maxLength: 500 },
      description:
        'Only resources whose metadata has this value: `metadata[team]=support`. With several keys, at most 5, all values must ' +
        'match.',
      examples: [{ team: 'support' }],
    }),
  ),
  created_after: instant('Only resources that were created after this time.'),
  created_before: instant('Only resources that were created before this time.'),
};

interface MetadataAndTimes {
  metadata?: Record<string, string>;
  created_after?: string;
  created_before?: string;
}

/** Converts the parameters to the fields of a list request. Refuses with INVALID_REQUEST what is no time. */
export function metadataAndTimes(query: MetadataAndTimes) {
  const members = Object.entries(query.metadata ?? {}).map(([key, value]) => ({ key, value }));
  return {
    metadata: members.length === 0 ? undefined : { members },
    createdAfter: parseTime('/created_after', query.created_after),
    createdBefore: parseTime('/created_before', query.created_before),
  };
}

/** `Date` also accepts 24:00:00. */
const RFC_3339 =
  /^(?<day>\d{4}-\d\d-\d\d)[Tt](?<time>(?!24)\d\d:\d\d:\d\d(?:\.\d+)?)(?<zone>[Zz]|[+-]\d\d:\d\d)$/;
/** The times that PostgreSQL, protobuf and RFC 3339 can all represent. */
const MIN_TIME = Date.parse('0001-01-01T00:00:00Z');
const MAX_TIME = Date.parse('9999-12-31T23:59:59.999Z');

function parseTime(pointer: string, text: string | undefined): Date | undefined {
  if (text === undefined) return undefined;
  const { day = '', time = '', zone = '' } = RFC_3339.exec(text)?.groups ?? {};
  const parsed = Date.parse(`${day}T${time}${zone.toUpperCase()}`);
  if (isCalendarDay(day) && parsed >= MIN_TIME && parsed <= MAX_TIME) return new Date(parsed);
  throw refuseField(pointer, 'must be a time as in RFC 3339, for example 2026-01-01T12:00:00Z');
}

/** `Date` accepts the 30th of February as the 2nd of March. */
function isCalendarDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}
