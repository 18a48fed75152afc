import { readFile } from 'node:fs/promises';
import type { ParsedModels } from './parse-models.ts';

/** More than 10,000 entries. */
const MAX_BYTES = 4 * 1024 * 1024;

/** Reads a file with models. A file that cannot be read is a problem at line 0. Loads the parser only then. */
export async function readModelsFile(path: string): Promise<ParsedModels> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return unreadable(`cannot be read (${reason})`);
  }
  if (Buffer.byteLength(text) > MAX_BYTES) return unreadable('is larger than 4 MiB');
  const { parseModels } = await import('./parse-models.ts');
  return parseModels(text);
}

function unreadable(message: string): ParsedModels {
  return { entries: [], problems: [{ line: 0, field: '', message }] };
}
