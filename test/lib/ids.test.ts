import { describe, expect, it } from 'vitest';
import { createIds, isId, timeOf } from '../../lib/ids.ts';
import { createFakeClock } from '../support/clock.ts';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** More than the last two characters of an id can count. */
const MANY = 5_000n;

/** The random part of an id, a number of 80 bits. */
function randomPart(id: string): bigint {
  return [...id.slice(-16)].reduce(
    (value, character) => value * 32n + BigInt(ALPHABET.indexOf(character)),
    0n,
  );
}

describe('createIds', () => {
  it('returns the time and the random bytes as a ULID', () => {
    const clock = createFakeClock();
    const bytes = [0xff, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe];
    const id = createIds(clock, (buffer) => buffer.set(bytes))('evt');
    expect(isId('evt', id)).toBe(true);
    expect(timeOf(id)).toEqual(clock.now());
    // The highest bit stays zero.
    expect(randomPart(id).toString(16)).toBe('7f0123456789abcdeffe');
  });

  it('adds one to the random part for each further id of a millisecond', () => {
    const ids = createIds(createFakeClock(), (buffer) => buffer.fill(0xff));
    const first = randomPart(ids('evt'));
    for (let count = 1n; count <= MANY; count++) expect(randomPart(ids('evt'))).toBe(first + count);
  });
});
