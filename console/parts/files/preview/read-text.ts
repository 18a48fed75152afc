import { files, type WorkspaceRef } from '../../../api/files.ts';
import type { FileEntry } from '../../../gen/index.ts';

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

/**
 * Reads the beginning of a text file. Returns undefined for other content. The decision ignores the file name, which is often
 * wrong.
 */
export async function readText(
  workspace: WorkspaceRef,
  { path, size }: Pick<FileEntry, 'path' | 'size'>,
  signal: AbortSignal,
): Promise<TextExcerpt | undefined> {
  const first = await bytesOf(workspace, path, 0, FIRST_BYTES, signal);
  if (decode(first) === undefined) return undefined;
  if (size <= FIRST_BYTES) return excerptOf(first, size);
  const rest = await bytesOf(workspace, path, FIRST_BYTES, MAX_BYTES - FIRST_BYTES, signal);
  const all = new Uint8Array(first.length + rest.length);
  all.set(first);
  all.set(rest, first.length);
  return excerptOf(all, size);
}

async function bytesOf(
  workspace: WorkspaceRef,
  path: string,
  first: number,
  length: number,
  signal: AbortSignal,
) {
  return new Uint8Array(
    await (await files.readRange(workspace, path, { first, length }, signal)).arrayBuffer(),
  );
}

function excerptOf(bytes: Uint8Array, size: number): TextExcerpt | undefined {
  const text = decode(bytes);
  if (text === undefined) return undefined;
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
