import type { IncomingMessage } from 'node:http';
import { refuse } from '../../lib/errors.ts';
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

/** Refuses If-Match on an operation that does not evaluate it, so that no client relies on a condition that is ignored. */
export function refuseIfMatch({ headers }: IncomingMessage): void {
  if (headers['if-match'] === undefined) return;
  throw refuse(
    'INVALID_REQUEST',
    'If-Match cannot be evaluated here, because the resource of this operation has no ETag. Remove the header.',
  );
}
