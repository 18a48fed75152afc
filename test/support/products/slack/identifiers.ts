import type { Clock } from '../../../../lib/clock.ts';

const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';

export interface Identifiers {
  /** An id such as `C0ABCDEFGHI` for the prefix `C`. */
  id(prefix: string): string;
  /** A timestamp such as `1767225600.000100`, which identifies a message in its channel. Each is later than the last. */
  ts(): string;
  /** Lower-case hexadecimal digits. */
  hex(digits: number): string;
  /** The form of a UUID. */
  uuid(): string;
}

export function createIdentifiers(random: () => number, clock: Clock): Identifiers {
  let lastMicroseconds = 0;
  const hex = (digits: number) =>
    Array.from({ length: digits }, () => Math.floor(random() * 16).toString(16)).join('');
  return {
    id: (prefix) =>
      `${prefix}0${Array.from({ length: 9 }, () => CHARACTERS[Math.floor(random() * CHARACTERS.length)]).join('')}`,
    ts() {
      lastMicroseconds = Math.max(lastMicroseconds + 1, clock.now().getTime() * 1000);
      const seconds = Math.floor(lastMicroseconds / 1e6);
      return `${seconds}.${String(lastMicroseconds % 1e6).padStart(6, '0')}`;
    },
    hex,
    uuid: () => [8, 4, 4, 4, 12].map(hex).join('-'),
  };
}
