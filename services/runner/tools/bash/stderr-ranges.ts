import type { TextRange } from '../../tool-calls/tool-call.ts';

/** Maximum number of ranges that are kept at the beginning and at the end of an output. Ranges between are dropped. */
const MAX_RANGES = 250;

/** Collects the byte ranges of an output that were printed to stderr. */
export class StderrRanges {
  readonly #ranges: TextRange[] = [];

  get ranges(): readonly TextRange[] {
    return this.#ranges;
  }

  /** Adds a range at or behind the end of the last one. */
  add(start: number, end: number): void {
    const last = this.#ranges.at(-1);
    if (start === end) return;
    if (last?.end === start) last.end = end;
    else this.#ranges.push({ start, end });
    if (this.#ranges.length > 2 * MAX_RANGES) this.#ranges.splice(MAX_RANGES, 1);
  }
}

/**
 * Converts byte ranges of an output to ranges of UTF-16 units in the text of `bytes`, which begin at byte `offset` of the
 * output. A boundary within a character moves to the end of the character.
 */
export function characterRanges(bytes: Buffer, ranges: readonly TextRange[], offset: number): TextRange[] {
  const found: TextRange[] = [];
  let byte = 0;
  let chars = 0;
  const charsUpTo = (position: number) => {
    let to = Math.min(Math.max(position - offset, byte), bytes.length);
    while (to < bytes.length && isContinuation(bytes[to])) to++;
    chars += bytes.toString('utf8', byte, to).length;
    byte = to;
    return chars;
  };
  for (const range of ranges) {
    if (range.end <= offset) continue;
    const start = charsUpTo(range.start);
    const end = charsUpTo(range.end);
    if (start < end) found.push({ start, end });
  }
  return found;
}

/** Whether a byte continues a character of UTF-8. */
const isContinuation = (byte: number | undefined) =>
  byte !== undefined && (byte & 0b1100_0000) === 0b1000_0000;
