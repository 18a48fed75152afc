import type { FastifyRequest } from 'fastify';
import { refuse, refuseField } from '../../lib/errors.ts';
import { pathProblem } from '../../lib/paths.ts';
import type { RawQuery } from '../input/query.ts';

const QUOTED_CHARACTERS = 100;

/** Refuses an invalid workspace path. `pointer` names the field of the request. */
export function checkFilePath(path: string, pointer = '/path'): string {
  const problem = pathProblem(path);
  if (problem === undefined) return path;
  const quoted = JSON.stringify(path.slice(0, QUOTED_CHARACTERS).toWellFormed());
  throw refuseField(pointer, `${problem}: ${quoted}${path.length > QUOTED_CHARACTERS ? '…' : ''}`);
}

/** Refuses an invalid directory path. The empty path is the root of the workspace. */
export function checkDirectoryPath(path: string, pointer = '/path'): string {
  return path === '' ? path : checkFilePath(path, pointer);
}

/**
 * The query of a request with a file path. Refuses a query that is not percent-encoded UTF-8: the framework would take it
 * literally, and a file would be created under an unintended name.
 */
export function decodableQuery({ url, query }: FastifyRequest): RawQuery {
  try {
    decodeURIComponent(url.slice(url.indexOf('?') + 1));
  } catch {
    throw refuse('INVALID_REQUEST', 'The query is not percent-encoded UTF-8.');
  }
  return query as RawQuery;
}
