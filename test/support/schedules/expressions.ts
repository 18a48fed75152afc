import type { DaylightSaving } from './oracle.ts';

type Random = () => number;

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
const between = (random: Random, min: number, max: number) => min + Math.floor(random() * (max - min + 1));
const chance = (random: Random, probability: number) => random() < probability;

/** A random dst setting; half of them have the defaults. */
export function randomDst(random: Random): DaylightSaving {
  if (chance(random, 0.5)) return { missing: 'shift', repeated: 'first' };
  return {
    missing: pick(random, ['shift', 'skip'] as const),
    repeated: pick(random, ['first', 'last', 'both'] as const),
  };
}

/**
 * A random expression of the documented grammar. Hours are mostly those at which clocks change: night, and the hours of
 * `near`.
 */
export function randomExpression(random: Random, near: readonly number[]): string {
  const hour = () => (chance(random, 0.7) ? pick(random, near) : between(random, 0, 23));
  return [
    field(random, 0, 59, 3, () => between(random, 0, 59)),
    field(random, 0, 23, 3, hour),
    dayOfMonth(random),
    chance(random, 0.85) ? '*' : field(random, 1, 12, 2, () => between(random, 1, 12)),
    dayOfWeek(random),
  ].join(' ');
}

function field(random: Random, min: number, max: number, parts: number, value: () => number): string {
  if (chance(random, 0.2)) return '*';
  if (chance(random, 0.15)) return `*/${between(random, 1, max - min + 1)}`;
  return Array.from({ length: between(random, 1, parts) }, () => {
    if (chance(random, 0.75)) return String(value());
    const [first, last] = [value(), value()].sort((one, other) => one - other);
    return chance(random, 0.5) ? `${first}-${last}` : `${first}-${last}/${between(random, 1, 7)}`;
  }).join(',');
}

function dayOfMonth(random: Random): string {
  if (chance(random, 0.6)) return '*';
  const special = ['L', 'LW', '*/2', '1W', '15W', '29W', '31W', 'L,15'];
  if (chance(random, 0.4)) return pick(random, special);
  return field(random, 1, 31, 3, () => between(random, 1, 31));
}

const DAYS = ['SUN', 'mon', 'TUE', 'WED', 'thu', 'FRI', 'SAT'];

function dayOfWeek(random: Random): string {
  if (chance(random, 0.6)) return '*';
  const special = [
    'MON-FRI',
    'SAT-SUN',
    'SUN-WED/2',
    '5-7',
    '0-7',
    '*/2',
    '7',
    '5#2',
    'sun#1',
    '7#5',
    'FRIL',
    '0L',
    '1#1,3L,6',
  ];
  if (chance(random, 0.5)) return pick(random, special);
  return Array.from({ length: between(random, 1, 2) }, () =>
    chance(random, 0.5) ? pick(random, DAYS) : String(between(random, 0, 7)),
  ).join(',');
}
