import type { FastifyRequest } from 'fastify';
import { refuse, refuseField } from '../../lib/errors.ts';
import { pathProblem } from '../../lib/paths.ts';
import type { RawQuery } from '../input/query.ts';

const SHOWN_CHARACTERS = 100;

/** Refuses a text that cannot be a path in a workspace. `pointer` says where it stood. */
export function checkFilePath(path: string, pointer = '/path'): string {
  const problem = pathProblem(path);
  if (problem === undefined) return path;
  const shown = JSON.stringify(path.slice(0, SHOWN_CHARACTERS).toWellFormed());
  throw refuseField(pointer, `${problem}: ${shown}${path.length > SHOWN_CHARACTERS ? '…' : ''}`);
}

/** The same for a directory, where an empty text means the whole workspace. */
export function checkDirectoryPath(path: string, pointer = '/path'): string {
  return path === '' ? path : checkFilePath(path, pointer);
}

/**
 * The query of a request that names a path. One that is not percent-encoded UTF-8 is refused: a search may take it for what
 * it says literally, but a file would be made under a name that nobody meant.
 */
export function rawQuery({ url, query }: FastifyRequest): RawQuery {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch {
    throw refuse('INVALID_REQUEST', 'the query is not percent-encoded UTF-8');
  }
  return query as RawQuery;
}
