import type { IncomingMessage } from 'node:http';
import { type Refusal, refuse } from '../../lib/errors.ts';

/** An error of Node's HTTP parser or server. */
export interface ProtocolError extends Error {
  code?: string | undefined;
  /** The parser's description. */
  reason?: string;
  /** The received bytes with the error, and the position of the byte after the valid ones. */
  rawPacket?: Buffer;
  bytesParsed?: number;
}

const HTTP_1_1 = '1.1';
const HTTP_1_0 = '1.0';
const BLANK = /\s/;

/**
 * Returns a refusal for a request that Node's parser accepts and RFC 9112 does not: another version, a missing or repeated
 * Host header (section 3.2), or Transfer-Encoding in HTTP/1.0 or with other codings than `chunked` (section 6.1). A proxy
 * in front of the service may read such a request differently.
 */
export function checkProtocol({ httpVersion, headers, rawHeaders }: IncomingMessage): Refusal | undefined {
  if (httpVersion !== HTTP_1_1 && httpVersion !== HTTP_1_0) return unsupportedVersion();
  const hosts = countHosts(rawHeaders);
  if (hosts > 1) return refuse('INVALID_REQUEST', 'The request has more than one Host header. Send one.');
  if (hosts === 0 && httpVersion === HTTP_1_1)
    return refuse('INVALID_REQUEST', 'The request has no Host header, which HTTP/1.1 requires.');
  const { 'transfer-encoding': codings } = headers;
  if (codings === undefined) return undefined;
  if (httpVersion === HTTP_1_0)
    return refuse(
      'INVALID_REQUEST',
      'HTTP/1.0 has no Transfer-Encoding. Send Content-Length or use HTTP/1.1.',
    );
  return isChunked(codings) ? undefined : unsupportedCoding();
}

/** Returns the refusal for an error of the parser. */
export function refusalOfProtocolError({ code, reason, rawPacket, bytesParsed = 0 }: ProtocolError): Refusal {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return refuse('REQUEST_TIMEOUT', 'The request did not arrive in time.');
    case 'HPE_HEADER_OVERFLOW':
      return refuse('HEADERS_TOO_LARGE', 'The request headers are too large.');
    // The preface of HTTP/2.
    case 'HPE_PAUSED_H2_UPGRADE':
      return unsupportedVersion();
    case 'HPE_INVALID_VERSION': {
      // After a supported version, the parser also reports a line that does not end correctly.
      const around = rawPacket?.toString('latin1', Math.max(0, bytesParsed - 1), bytesParsed + 1) ?? '';
      const isVersionSupported = reason === 'Expected CRLF after version' && BLANK.test(around);
      return isVersionSupported ? malformed() : unsupportedVersion();
    }
    case 'HPE_INVALID_TRANSFER_ENCODING':
      // A second coding after `chunked`. All other errors with this code concern the framing.
      return reason === 'Invalid `Transfer-Encoding` header value' ? unsupportedCoding() : malformed();
    default:
      return malformed();
  }
}

function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i];
    if (name?.length === 4 && name.toLowerCase() === 'host') count++;
  }
  return count;
}

function isChunked(codings: string): boolean {
  // A list may have empty members.
  const named = codings.split(',').filter((coding) => coding.trim() !== '');
  return named.length === 1 && named[0]?.trim().toLowerCase() === 'chunked';
}

function malformed(): Refusal {
  return refuse('INVALID_REQUEST', 'The request is not valid HTTP.');
}

function unsupportedVersion(): Refusal {
  return refuse(
    'HTTP_VERSION_NOT_SUPPORTED',
    'The version in the request line must be HTTP/1.1 or HTTP/1.0.',
  );
}

function unsupportedCoding(): Refusal {
  return refuse('NOT_IMPLEMENTED', 'The only supported Transfer-Encoding is `chunked`. Send it once.');
}
