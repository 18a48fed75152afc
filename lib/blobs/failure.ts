import { Refusal, refuse } from '../errors.ts';
import { BlobMissing } from './blobs.ts';

const FULL = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'QuotaExceeded',
  'InsufficientCapacity',
  'XMinioStorageFull',
  'XAmzStorageFull',
]);

const UNAUTHORIZED = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'AccessDenied', 'Forbidden']);

/** Gives the failures of a store their names. */
export function asRefusal(error: unknown, signal?: AbortSignal): unknown {
  if (error instanceof Refusal || error instanceof BlobMissing || error instanceof TypeError) return error;
  if (signal?.aborted) return refuse('CANCELLED', 'the caller left before the answer');
  if (isFull(error)) return refuse('STORAGE_FULL', 'there is no space left for files', { cause: error });
  const reason = isUnauthorized(error)
    ? 'the object store does not accept the credentials it was given'
    : 'the place where files are kept cannot be reached';
  return refuse('DEPENDENCY_UNAVAILABLE', reason, { retryAfterSeconds: 1, cause: error });
}

export function isUnauthorized(error: unknown): boolean {
  return UNAUTHORIZED.has(codeOf(error));
}

/** `ENOENT` and its like, or the code of an answer of S3. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function isFull(error: unknown): boolean {
  return FULL.has(codeOf(error)) || (error instanceof Error && /HTTP status: 507/.test(error.message));
}
