const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const PADDING = '='.charCodeAt(0);

/** The value of each character; -1 for the others. */
const VALUES = new Int8Array(256).fill(-1);
for (const [value, character] of [...ALPHABET].entries()) VALUES[character.charCodeAt(0)] = value;

/**
 * Decodes canonical standard Base64 with padding (RFC 4648, section 4). Returns undefined for any other text. The result
 * replaces the beginning of the text, so that a long text needs no further memory. Invalid text is lost as well.
 */
export function decodeBase64(text: Buffer): Buffer | undefined {
  const { length } = text;
  if (length % 4 !== 0) return undefined;
  const padding = length === 0 || text[length - 1] !== PADDING ? 0 : text[length - 2] !== PADDING ? 1 : 2;
  const bytes = text.subarray(0, (length / 4) * 3 - padding);
  const valueAt = (index: number) => VALUES[text[index] ?? 0] ?? -1;
  let written = 0;
  for (let i = 0; i < length; i += 4) {
    const isLast = i + 4 === length;
    const third = isLast && padding === 2 ? 0 : valueAt(i + 2);
    const fourth = isLast && padding > 0 ? 0 : valueAt(i + 3);
    // An invalid character makes the word negative.
    const word = (valueAt(i) << 18) | (valueAt(i + 1) << 12) | (third << 6) | fourth;
    if (word < 0) return undefined;
    // The bits that the padding leaves unused must be zero.
    if (isLast && (word & UNUSED_BITS[padding]) !== 0) return undefined;
    bytes[written++] = word >> 16;
    if (written < bytes.length) bytes[written++] = (word >> 8) & 0xff;
    if (written < bytes.length) bytes[written++] = word & 0xff;
  }
  return bytes;
}

const UNUSED_BITS = { 0: 0, 1: 0xff, 2: 0xffff } as const;
