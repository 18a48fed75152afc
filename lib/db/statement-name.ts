import { sha256 } from '../digest.ts';
import { MAX_STATEMENT_NAME } from './database.ts';

const DIGEST_CHARACTERS = 16;

/** Returns the name of a statement that consists of parts, or a digest of them if it would be too long. */
export function statementName(prefix: string, parts: readonly string[]): string {
  const name = [prefix, ...parts].join('_');
  return name.length <= MAX_STATEMENT_NAME ? name : `${prefix}_${sha256(name).slice(0, DIGEST_CHARACTERS)}`;
}
