import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * Format of a personal access token: `ahs_`, 40 random characters, and a checksum of 6 characters. Secret scanners can
 * recognize tokens, and a mistyped token costs no database lookup.
 */
const PREFIX = 'ahs_';
const RANDOM_CHARACTERS = 40;
const CHECKSUM_CHARACTERS = 6;
const SHAPE = /^ahs_[0-9A-Za-z]{46}$/;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** Bytes from this value on are discarded, so that all digits are equally likely. */
const FIRST_BIASED_BYTE = 256 - (256 % DIGITS.length);

export function newTokenValue(): string {
  let text = '';
  while (text.length < RANDOM_CHARACTERS) {
    for (const byte of randomBytes(RANDOM_CHARACTERS + 8)) {
      if (byte < FIRST_BIASED_BYTE && text.length < RANDOM_CHARACTERS) text += DIGITS[byte % DIGITS.length];
    }
  }
  return `${PREFIX}${text}${checksumOf(text)}`;
}

/** Whether the text has the format of a personal access token, including the checksum. */
export function isTokenValue(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const end = PREFIX.length + RANDOM_CHARACTERS;
  return text.slice(end) === checksumOf(text.slice(PREFIX.length, end));
}

export function hasTokenPrefix(text: string): boolean {
  return text.startsWith(PREFIX);
}

/** The end of the token, by which its owner recognizes it. */
export function hintOf(value: string): string {
  return value.slice(-4);
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < CHECKSUM_CHARACTERS; index++) {
    digits = DIGITS[rest % DIGITS.length] + digits;
    rest = Math.floor(rest / DIGITS.length);
  }
  return digits;
}
