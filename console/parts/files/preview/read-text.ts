import type { ByteRange } from '../../../api/byte-range.ts';

/** The beginning of a text file, split into lines. */
export interface TextExcerpt {
  lines: readonly string[];
  /** Where the excerpt ends; undefined when it is the whole file. */
  truncatedAt: { bytes: number } | { lines: number } | undefined;
  /** Some lines are truncated to MAX_LINE_CHARS. */
  hasLongLines: boolean;
}

const MAX_BYTES = 1024 * 1024;
const FIRST_BYTES = 64 * 1024;
/** More lines would exceed the maximum element height of browsers. */
const MAX_LINES = 200_000;
const MAX_LINE_CHARS = 5_000;
const LINE_BREAK = /\r\n|\n|\r/;

/** The text of a file; `not text` for other content. */
export type FileText = TextExcerpt | 'not text';

/**
 * Reads the beginning of a file of `size` bytes. Whether it is text does not depend on the file name, which is often wrong.
 */
export async function readText(
  readRange: (range: ByteRange) => Promise<Blob>,
  size: number,
): Promise<FileText> {
  const bytesOf = async (first: number, length: number) =>
    new Uint8Array(await (await readRange({ first, length })).arrayBuffer());
  const first = await bytesOf(0, FIRST_BYTES);
  if (decode(first) === undefined) return 'not text';
  if (size <= FIRST_BYTES) return excerptOf(first, size);
  const rest = await bytesOf(FIRST_BYTES, MAX_BYTES - FIRST_BYTES);
  const all = new Uint8Array(first.length + rest.length);
  all.set(first);
  all.set(rest, first.length);
  return excerptOf(all, size);
}

function excerptOf(bytes: Uint8Array, size: number): FileText {
  const text = decode(bytes);
  if (text === undefined) return 'not text';
  const all = text.split(LINE_BREAK);
  // A trailing line break does not start another line.
  if (bytes.length === size && all.at(-1) === '') all.pop();
  const lines = all.slice(0, MAX_LINES);
  const hasLongLines = lines.some(({ length }) => length > MAX_LINE_CHARS);
  return {
    lines: hasLongLines ? lines.map((line) => line.slice(0, MAX_LINE_CHARS).toWellFormed()) : lines,
    truncatedAt: truncationOf(all.length, bytes.length, size),
    hasLongLines,
  };
}

function truncationOf(lines: number, bytes: number, size: number): TextExcerpt['truncatedAt'] {
  if (lines > MAX_LINES) return { lines: MAX_LINES };
  return bytes < size ? { bytes } : undefined;
}

/** Decodes UTF-8 that may end within a character. Returns undefined for content that is not text. */
function decode(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
