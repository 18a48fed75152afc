import { randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

/** The prefixes of all ids. An id is `<prefix>_` and a ULID of 26 characters (https://github.com/ulid/spec). */
export type IdPrefix =
  | 'agt'
  | 'ast'
  | 'env'
  | 'mcp'
  | 'skl'
  | 'ses'
  | 'trn'
  | 'evt'
  | 'msg'
  | 'apr'
  | 'wsp'
  | 'cnt'
  | 'upl'
  | 'sbx'
  | 'dep'
  | 'inv'
  | 'run'
  | 'bkf'
  | 'dlv'
  | 'pst'
  | 'lnk'
  | 'dlv'
  | 'pst'
  | 'lnk'
  | 'prb'
  | 'wrk'
  | 'usr'
  | 'tok'
  | 'lgn'
  | 'req'
  | 'rnr'
  | 'vlt'
  | 'crd'
  | 'rot'
  | 'att';

/** Generates an id. The ids of one process sort in the order of their generation. */
export type Ids = (prefix: IdPrefix) => string;

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** Two characters for each number of ten bits. */
const PAIRS = Array.from({ length: 1024 }, (_, bits) => `${ALPHABET[bits >> 5]}${ALPHABET[bits & 31]}`);
const TIME_CHARACTERS = 10;
const RANDOM_BYTES = 10;
const POOL_BYTES = 4096;

/** `fill` overwrites a buffer with random bytes. Tests pass a seeded function. */
export function createIds(clock: Clock, fill: (buffer: Uint8Array) => void = randomFillSync): Ids {
  const pool = new Uint8Array(POOL_BYTES);
  let used = POOL_BYTES;
  let lastTime = -1;
  let timeText = '';
  const random = new Uint8Array(RANDOM_BYTES);

  function refresh(time: number): void {
    lastTime = time;
    timeText = encodeTime(time);
    if (used + RANDOM_BYTES > POOL_BYTES) {
      fill(pool);
      used = 0;
    }
    random.set(pool.subarray(used, used + RANDOM_BYTES));
    // The top bit stays zero, so that increments within a millisecond do not overflow.
    random[0] = (random[0] ?? 0) & 0x7f;
    used += RANDOM_BYTES;
  }

  return (prefix) => {
    const time = clock.now().getTime();
    if (time > lastTime) refresh(time);
    else increment(random);
    return `${prefix}_${timeText}${encodeRandom(random)}`;
  };
}

/** Returns the same ULID with another prefix. */
export function withPrefix(prefix: IdPrefix, id: string): string {
  return `${prefix}_${id.slice(id.indexOf('_') + 1)}`;
}

const SHAPE = /^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}$/;

/** Returns whether an untrusted text has the form of an id with this prefix. */
export function isId(prefix: IdPrefix, text: string): boolean {
  return text.startsWith(`${prefix}_`) && SHAPE.test(text);
}

/** Returns the time at which a well-formed id was generated. */
export function timeOf(id: string): Date {
  const text = id.slice(id.indexOf('_') + 1, id.indexOf('_') + 1 + TIME_CHARACTERS);
  let time = 0;
  for (const character of text) time = time * 32 + ALPHABET.indexOf(character);
  return new Date(time);
}

/** A range of ids. Neither bound belongs to it; undefined for no bound. */
export interface IdRange {
  after: string | undefined;
  before: string | undefined;
}

/**
 * A resource may be created this much earlier or later than its id was generated: in another process, or after the clock of the
 * process was set back.
 */
const CREATION_TOLERANCE_MS = 10 * 60 * 1000;
const MAX_TIME = 32 ** TIME_CHARACTERS - 1;

/** Returns a range with the ids of all resources that were created between two times. It may have ids of others, too. */
export function idsCreatedBetween(
  prefix: IdPrefix,
  after: Date | undefined,
  before: Date | undefined,
): IdRange {
  const idAt = (time: Date, tolerance: number) =>
    `${prefix}_${encodeTime(Math.min(Math.max(time.getTime() + tolerance, 0), MAX_TIME))}`;
  return {
    after: after && idAt(after, -CREATION_TOLERANCE_MS),
    // One millisecond more, because ids of the last one are longer than its bound.
    before: before && idAt(before, CREATION_TOLERANCE_MS + 1),
  };
}

function encodeTime(time: number): string {
  let text = '';
  for (let i = 0, rest = time; i < TIME_CHARACTERS; i++) {
    text = ALPHABET[rest % 32] + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** 80 bits as 16 characters, five bytes to eight characters at a time. */
function encodeRandom(bytes: Uint8Array): string {
  return encodeFiveBytes(bytes, 0) + encodeFiveBytes(bytes, 5);
}

function encodeFiveBytes(bytes: Uint8Array, start: number): string {
  const byte = (offset: number) => bytes[start + offset] ?? 0;
  const high = byte(0) * 4096 + byte(1) * 16 + (byte(2) >> 4);
  const low = (byte(2) & 15) * 65536 + byte(3) * 256 + byte(4);
  return `${PAIRS[high >> 10]}${PAIRS[high & 1023]}${PAIRS[low >> 10]}${PAIRS[low & 1023]}`;
}

function increment(bytes: Uint8Array): void {
  for (let i = bytes.length - 1; i >= 0; i--) {
    const next = ((bytes[i] ?? 0) + 1) & 0xff;
    bytes[i] = next;
    if (next !== 0) return;
  }
}
