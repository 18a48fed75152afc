import type { IncomingMessage } from 'node:http';
import { refuse } from '../../lib/errors.ts';
import type { RequiredState } from '../../proto/gen/ahs/files/v1/files.ts';
import { matchesStrongly, matchesWeakly } from './entity-tags.ts';
import { ifMatchTags } from './headers.ts';

/**
 * Evaluates If-Match and then If-None-Match of a request that reads, as RFC 9110 section 13.2.2 orders them. Returns
 * whether the client has the content already. Refuses with VERSION_CONFLICT.
 */
export function isNotModified(request: IncomingMessage, etag: string): boolean {
  const expected = ifMatchTags(request);
  if (expected !== undefined && !matchesStrongly(expected, etag))
    throw refuse('VERSION_CONFLICT', `The ETag is ${etag}, which is not in If-Match.`);
  const known = request.headers['if-none-match'];
  return known !== undefined && matchesWeakly(known, etag);
}

const STRONG_TAG = /^"([0-9a-f]{64})"$/;

/**
 * Returns the content that If-Match requires a file to have, for the service that compares it with the change. Undefined
 * without the header. Refuses a malformed header with INVALID_REQUEST.
 */
export function requiredContent(request: IncomingMessage): RequiredState | undefined {
  const expected = ifMatchTags(request);
  if (expected === undefined) return undefined;
  if (expected === '*') return { exists: true, anyContent: true, sha256: [] };
  const sha256 = expected.flatMap((tag) => STRONG_TAG.exec(tag)?.[1] ?? []);
  return { exists: true, anyContent: false, sha256 };
}

/**
 * Returns the state of a file that If-Match or `If-None-Match: *` of an upload requires, for the service that compares it
 * with the change. Undefined without these headers. Refuses other values with INVALID_REQUEST.
 */
export function requiredFileState(request: IncomingMessage): RequiredState | undefined {
  const expected = requiredContent(request);
  const excluded = request.headers['if-none-match'];
  if (excluded === undefined) return expected;
  if (excluded.trim() !== '*')
    throw refuse(
      'INVALID_REQUEST',
      'If-None-Match of an upload must be `*`: only a missing file is written.',
    );
  if (expected !== undefined)
    throw refuse(
      'INVALID_REQUEST',
      'If-Match and `If-None-Match: *` contradict each other. Remove one of them.',
    );
  return { exists: false, anyContent: false, sha256: [] };
}

/** Refuses If-Match on an operation that does not evaluate it, so that no client relies on a condition that is ignored. */
export function refuseIfMatch({ headers }: IncomingMessage): void {
  if (headers['if-match'] === undefined) return;
  throw refuse(
    'INVALID_REQUEST',
    'If-Match cannot be evaluated here, because the resource of this operation has no ETag. Remove the header.',
  );
}
