import type { EchoPattern } from './echo-patterns.ts';

/** An answer contains a secret. */
export class EchoFound extends Error {
  readonly credentialId: string;
  /** The host for which the secret was lent. */
  readonly host: string;

  constructor({ credentialId, host }: EchoPattern) {
    super('The answer contained a credential.');
    this.credentialId = credentialId;
    this.host = host;
  }
}

interface Needle extends EchoPattern {
  /** For each prefix of the pattern, the length of its longest proper prefix that is also its suffix. */
  borders: Uint32Array;
}

/**
 * Searches a stream for patterns. It keeps back the end of the stream as long as it can be the beginning of a pattern, so
 * that no part of a found pattern was passed on.
 */
export class EchoScanner {
  readonly #needles: readonly Needle[];
  #kept: Buffer = Buffer.alloc(0);

  constructor(patterns: readonly EchoPattern[]) {
    this.#needles = patterns.map((pattern) => ({ ...pattern, borders: bordersOf(pattern.bytes) }));
  }

  /** Returns the bytes that can be passed on. Throws EchoFound. */
  push(chunk: Buffer): Buffer {
    if (this.#needles.length === 0) return chunk;
    const bytes = this.#kept.length === 0 ? chunk : Buffer.concat([this.#kept, chunk]);
    let keep = 0;
    for (const needle of this.#needles) {
      if (bytes.includes(needle.bytes)) throw new EchoFound(needle);
      keep = Math.max(keep, beginningAtEnd(bytes, needle));
    }
    const end = bytes.length - keep;
    // A copy, because a slice would hold the memory of the whole chunk.
    this.#kept = keep === 0 ? Buffer.alloc(0) : Buffer.from(bytes.subarray(end));
    return bytes.subarray(0, end);
  }

  /** Returns the rest at the end of the stream. */
  end(): Buffer {
    const rest = this.#kept;
    this.#kept = Buffer.alloc(0);
    return rest;
  }
}

/** Throws EchoFound when a text contains a pattern. */
export function scanText(text: string, patterns: readonly EchoPattern[]): void {
  const bytes = Buffer.from(text, 'latin1');
  const found = patterns.find((pattern) => bytes.includes(pattern.bytes));
  if (found) throw new EchoFound(found);
}

/** The length of the longest suffix that is a prefix of the needle (Knuth, Morris and Pratt). */
function beginningAtEnd(bytes: Buffer, { bytes: needle, borders }: Needle): number {
  let matched = 0;
  for (let at = Math.max(0, bytes.length - needle.length + 1); at < bytes.length; at++) {
    while (matched > 0 && bytes[at] !== needle[matched]) matched = borders[matched - 1] ?? 0;
    if (bytes[at] === needle[matched]) matched++;
  }
  return matched;
}

function bordersOf(needle: Buffer): Uint32Array {
  const borders = new Uint32Array(needle.length);
  for (let at = 1, matched = 0; at < needle.length; at++) {
    while (matched > 0 && needle[at] !== needle[matched]) matched = borders[matched - 1] ?? 0;
    if (needle[at] === needle[matched]) matched++;
    borders[at] = matched;
  }
  return borders;
}
