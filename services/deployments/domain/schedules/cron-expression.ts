import { refuseSchedule } from './refusal.ts';

/**
 * A checked cron expression. The grammar is stricter than that of the library that finds the times, so that the
 * documentation describes all of it.
 */
export interface CronExpression {
  /** The five fields as they are stored, with one space between them. */
  text: string;
  /** The fields with numbers instead of names: minute and hour; day of month, month and day of week. */
  time: string;
  days: string;
  minutes: number[];
  hours: number[];
  followsElapsedTime: boolean;
  /** A day must match both day fields; otherwise one of them is enough. */
  bothDaysMatch: boolean;
}

interface Field {
  name: string;
  min: number;
  max: number;
  /** Names of the values from `min` on. */
  names?: readonly string[];
  /** Values of one field only, such as L. Numbers stand for names here. */
  special?: RegExp;
  specialHint?: string;
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const DAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

const MINUTE: Field = { name: 'minute', min: 0, max: 59 };
const HOUR: Field = { name: 'hour', min: 0, max: 23 };
const DAY_OF_MONTH: Field = {
  name: 'day of month',
  min: 1,
  max: 31,
  special: /^(L|([1-9]|0[1-9]|[12]\d|3[01])W)$/,
  specialHint: ', L, LW or a number with W',
};
const MONTH: Field = { name: 'month', min: 1, max: 12, names: MONTHS };
const DAY_OF_WEEK: Field = {
  name: 'day of week',
  min: 0,
  // 7 is Sunday, too.
  max: 7,
  names: DAYS,
  special: /^[0-7](L|#[1-5])$/,
  specialHint: ', a day with L, or a day with # and 1 to 5',
};

const NICKNAMES: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

const MAX_LENGTH = 1_000;

/** Parses five fields or a nickname. Refused with INVALID_SCHEDULE and the pointer /cron. */
export function parseCron(given: string): CronExpression {
  const trimmed = given.trim();
  if (trimmed.length > MAX_LENGTH) throw refuseCron(`must be at most ${MAX_LENGTH} characters long`);
  const text = trimmed.startsWith('@') ? expandNickname(trimmed) : trimmed.replaceAll(/[ \t]+/g, ' ');
  const fields = text.split(' ');
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields;
  if (fields.length !== 5 || !minute || !hour || !dayOfMonth || !month || !dayOfWeek) {
    const count = text === '' ? 0 : fields.length;
    throw refuseCron(
      `must have five fields (minute, hour, day of month, month, day of week), but has ${count}` +
        (count > 5 ? '. Seconds and years are not supported; use every_seconds for short intervals' : ''),
    );
  }
  const minutes = parseField(minute, MINUTE);
  const hours = parseField(hour, HOUR);
  const days = [
    // LW stands alone.
    dayOfMonth.toUpperCase() === 'LW' ? 'LW' : parseField(dayOfMonth, DAY_OF_MONTH).text,
    parseField(month, MONTH).text,
    parseField(dayOfWeek, DAY_OF_WEEK).text,
  ];
  return {
    text,
    time: `${minutes.text} ${hours.text}`,
    days: days.join(' '),
    minutes: [...minutes.values],
    hours: [...hours.values],
    // As in Vixie cron, the first character decides.
    followsElapsedTime: hour.startsWith('*'),
    bothDaysMatch: dayOfMonth.startsWith('*') || dayOfWeek.startsWith('*'),
  };
}

function refuseCron(message: string) {
  return refuseSchedule('/cron', message);
}

function expandNickname(text: string): string {
  const expression = NICKNAMES[text.toLowerCase()];
  if (!expression) throw refuseCron(`must be five fields or one of ${Object.keys(NICKNAMES).join(', ')}`);
  return expression;
}

/** Returns the field with numbers instead of names, and the values that its numbers, ranges and steps select. */
function parseField(given: string, field: Field): { text: string; values: Set<number> } {
  const values = new Set<number>();
  const parts = given.split(',').map((part) => {
    const text = withoutNames(part, field);
    if (!field.special?.test(text)) for (const value of valuesOf(text, part, field)) values.add(value);
    return text;
  });
  return { text: parts.join(','), values };
}

/** A name stands alone: SUN6 is no 6. */
const NAME = /(?<![\dA-Z/#])[A-Z]{3}(?=L?$|[-/#])/g;

function withoutNames(part: string, { names, min }: Field): string {
  const upper = part.toUpperCase();
  if (!names) return upper;
  return upper.replace(NAME, (name, offset) => {
    // SAT-SUN ends with the day 7.
    if (name === 'SUN' && upper[offset - 1] === '-') return '7';
    const index = names.indexOf(name);
    return index < 0 ? name : String(index + min);
  });
}

const PART = /^(?:\*|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/;

/** The values of `*`, a number or a range, with or without a step. */
function valuesOf(text: string, given: string, field: Field): number[] {
  const { name, min, max } = field;
  const found = PART.exec(text);
  if (!found) throw refusePart(given, field);
  const [, from, until, by] = found;
  const first = from === undefined ? min : Number(from);
  const last = Number(until ?? from ?? max);
  if (first < min || last > max)
    throw refuseCron(`has ${given} in the ${name} field, which takes ${min} to ${max}`);
  if (first > last)
    throw refuseCron(`has the range ${given} in the ${name} field, whose end is before its start`);
  if (by === undefined) return range(first, last, 1);
  if (from !== undefined && until === undefined)
    throw refuseCron(
      `has ${given} in the ${name} field. Write ${from}-${max}/${by} for a step from ${from} on`,
    );
  // The days of a week are seven, although 7 is a day, too.
  const size = Math.min(max - min + 1, field === DAY_OF_WEEK ? 7 : Infinity);
  const step = Number(by);
  if (step < 1 || step > size)
    throw refuseCron(`has ${given} in the ${name} field, whose step is 1 to ${size}`);
  return range(first, last, step);
}

function refusePart(given: string, { name, min, max, names, specialHint = '' }: Field) {
  const shown = given.length > 40 ? `${given.slice(0, 40)}…` : given;
  if (given === '') return refuseCron(`has an empty part in the list of the ${name} field`);
  if (given === '?') return refuseCron(`has ? in the ${name} field. Write *`);
  if (/^H/i.test(given))
    return refuseCron(`has ${shown} in the ${name} field. Use jitter_seconds to spread schedules over time`);
  const examples = names ? ` or names such as ${names[1]}` : '';
  return refuseCron(
    `has ${shown} in the ${name} field, which takes *, numbers from ${min} to ${max}${examples}, ranges and steps${specialHint}`,
  );
}

function range(first: number, last: number, step: number): number[] {
  const values: number[] = [];
  for (let value = first; value <= last; value += step) values.push(value);
  return values;
}
