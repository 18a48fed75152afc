import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * What a personal access token looks like: `ahs_`, 40 random characters, and 6 that check them. Who scans texts for
 * secrets that have leaked can tell one from anything else, and a slip of the pen costs no question to the database.
 */
const PREFIX = 'ahs_';
const RANDOM_CHARACTERS = 40;
const CHECK_CHARACTERS = 6;
const SHAPE = /^ahs_[0-9A-Za-z]{46}$/;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Bytes from here on would make the first digits of the alphabet more likely than the last ones. */
const UNFAIR = 256 - (256 % DIGITS.length);

export function newTokenValue(): string {
  let text = '';
  while (text.length < RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS + 8)) {
      if (byte < UNFAIR && text.length < RANDOM_CHARACTERS) text += DIGITS[byte % DIGITS.length];
    }
  }
  return `${PREFIX}${text}${checkOf(text)}`;
}

/** Whether a text could be a personal access token at all. */
export function isTokenValue(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const end = PREFIX.length + RANDOM_CHARACTERS;
  return text.slice(end) === checkOf(text.slice(PREFIX.length, end));
}

/** Whether a text claims to be one. */
export function claimsToBeToken(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** What its owner recognises it by. */
export function hintOf(value: string): string {
  return value.slice(-4);
}

function checkOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < CHECK_CHARACTERS; place++) {
    digits = DIGITS[rest % DIGITS.length] + digits;
    rest = Math.floor(rest / DIGITS.length);
  }
  return digits;
}
