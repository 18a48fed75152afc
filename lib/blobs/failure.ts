import { Refusal, refuse } from '../errors.ts';
import { BlobMissing, InvalidBlobKey } from './blobs.ts';

const FULL = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'QuotaExceeded',
  'InsufficientCapacity',
  'XMinioStorageFull',
  'XAmzStorageFull',
]);
/** Insufficient Storage. */
const FULL_STATUS = 507;

const UNAUTHORIZED = new Set(['InvalidAccessKeyId', 'SignatureDoesNotMatch', 'AccessDenied', 'Forbidden']);

/**
 * Maps a failure of the file system or of S3 to a Refusal: CANCELLED when the signal is aborted, STORAGE_FULL when there
 * is no space left, DEPENDENCY_UNAVAILABLE otherwise. Returns a Refusal, BlobMissing or InvalidBlobKey unchanged.
 */
export function asRefusal(error: unknown, signal?: AbortSignal): unknown {
  if (error instanceof Refusal || error instanceof BlobMissing || error instanceof InvalidBlobKey)
    return error;
  if (signal?.aborted) return refuse('CANCELLED', 'The caller disconnected before the response.');
  if (isFull(error)) return refuse('STORAGE_FULL', 'The file storage is full.', { cause: error });
  const reason = isUnauthorized(error)
    ? 'The object store rejected the credentials of the service.'
    : 'The file storage cannot be reached.';
  return refuse('DEPENDENCY_UNAVAILABLE', reason, { retryAfterSeconds: 1, cause: error });
}

export function isUnauthorized(error: unknown): boolean {
  return UNAUTHORIZED.has(codeOf(error));
}

/** The error code of the file system (`ENOENT`) or of S3 (`NoSuchKey`); `''` when the error has none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function isFull(error: unknown): boolean {
  return (
    FULL.has(codeOf(error)) || (error instanceof Error && 'status' in error && error.status === FULL_STATUS)
  );
}
