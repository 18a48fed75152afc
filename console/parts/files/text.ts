import { files, type Place } from '../../api/files.ts';
import type { FileEntry } from '../../gen/index.ts';

/** The beginning of a file, line by line. */
export interface TextBeginning {
  lines: readonly string[];
  /** Where it ends, when there is more in the file. */
  cut: { bytes: number } | { lines: number } | undefined;
  /** Some lines are longer than what is shown of them. */
  hasLongLines: boolean;
}

const MOST_BYTES = 1024 * 1024;
const FIRST_BYTES = 64 * 1024;
/** More would be more than browsers make one element high. */
const MOST_LINES = 200_000;
const LONGEST_LINE = 5_000;
const BREAK = /\r\n|\n|\r/;

/** Reads the beginning of a file, if it is text; undefined when it is not. Its name is not asked: names are often wrong. */
export async function readText(
  place: Place,
  { path, size }: Pick<FileEntry, 'path' | 'size'>,
  signal: AbortSignal,
): Promise<TextBeginning | undefined> {
  const first = await bytesOf(place, path, 0, FIRST_BYTES, signal);
  if (decode(first) === undefined) return undefined;
  if (size <= FIRST_BYTES) return beginningOf(first, size);
  const rest = await bytesOf(place, path, FIRST_BYTES, MOST_BYTES - FIRST_BYTES, signal);
  const all = new Uint8Array(first.length + rest.length);
  all.set(first);
  all.set(rest, first.length);
  return beginningOf(all, size);
}

async function bytesOf(place: Place, path: string, first: number, length: number, signal: AbortSignal) {
  return new Uint8Array(await (await files.read(place, path, { first, length }, signal)).arrayBuffer());
}

function beginningOf(bytes: Uint8Array, size: number): TextBeginning | undefined {
  const text = decode(bytes);
  if (text === undefined) return undefined;
  const all = text.split(BREAK);
  // What ends with a line break has no line after it.
  if (bytes.length === size && all.at(-1) === '') all.pop();
  const lines = all.slice(0, MOST_LINES);
  const hasLongLines = lines.some(({ length }) => length > LONGEST_LINE);
  return {
    lines: hasLongLines ? lines.map((line) => line.slice(0, LONGEST_LINE).toWellFormed()) : lines,
    cut: cutOf(all.length, bytes.length, size),
    hasLongLines,
  };
}

function cutOf(lines: number, bytes: number, size: number): TextBeginning['cut'] {
  if (lines > MOST_LINES) return { lines: MOST_LINES };
  return bytes < size ? { bytes } : undefined;
}

/** What is cut in the middle of a character is text all the same. */
function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
