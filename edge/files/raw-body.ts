import type { IncomingMessage } from 'node:http';
import { refuse } from '../../lib/errors.ts';
import { occurrences } from '../input/headers.ts';

export const MULTIPART = /^multipart\/form-data[ \t]*(;|$)/i;

/** Returns the Content-Type. Refuses encoded bodies with UNSUPPORTED_MEDIA_TYPE. */
export function checkContentType({ rawHeaders, headers }: IncomingMessage): string {
  const [type = '', ...more] = occurrences(rawHeaders, 'content-type');
  if (more.length > 0) throw refuse('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type header must be given once.');
  if ((headers['content-encoding'] ?? 'identity') !== 'identity')
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'A Content-Encoding is not supported. Send the body unencoded.');
  // Node decodes `chunked` only: with another coding the compressed bytes would be stored.
  if (!/^chunked$/i.test(headers['transfer-encoding'] ?? 'chunked'))
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'A Transfer-Encoding other than chunked is not supported.');
  return type;
}

/** Refuses a form with UNSUPPORTED_MEDIA_TYPE where the body is the bytes of one file, because they would have its syntax. */
export function checkRawBody(raw: IncomingMessage, remedy: string): void {
  if (MULTIPART.test(checkContentType(raw)))
    throw refuse('UNSUPPORTED_MEDIA_TYPE', `The body must be the bytes themselves, not a form. ${remedy}`);
}

/** The announced length of the body; undefined when it is unknown. */
export function announcedLength({ headers }: IncomingMessage): number | undefined {
  // A request with neither header has no body, which is an empty file.
  return headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : undefined;
}
