import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { refuse } from '../../lib/errors.ts';
import { occurrences } from './headers.ts';

/** A body that is longer than it may be. The rest of it is read and forgotten, so that the client hears the answer. */
export const OVERSIZE = Symbol('oversize');

const NOTHING = Buffer.alloc(0);

/**
 * Reads a body of at most `limit` bytes. Longer ones are given up as soon as that is known, by the
 * announced length or by the bytes that came.
 */
export function readBody(
  stream: Readable,
  announced: string | undefined,
  limit: number,
  done: (error: Error | null, body: Buffer | typeof OVERSIZE) => void,
): void {
  if (Number(announced) > limit) {
    stream.resume();
    done(null, OVERSIZE);
    return;
  }
  let chunks: Buffer[] = [];
  let length = 0;

  function finish(error: Error | null, body: Buffer | typeof OVERSIZE): void {
    stream.off('data', take);
    stream.off('end', end);
    stream.off('close', leave);
    stream.off('error', leave);
    chunks = [];
    done(error, body);
  }
  function take(chunk: Buffer): void {
    length += chunk.length;
    chunks.push(chunk);
    if (length <= limit) return;
    finish(null, OVERSIZE);
    stream.resume();
  }
  function end(): void {
    // A copy, always: a chunk is a view into memory that the socket uses again.
    finish(null, length === 0 ? NOTHING : Buffer.concat(chunks, length));
  }
  function leave(): void {
    stream.on('error', () => {});
    finish(refuse('CANCELLED', 'the client left before the end of the request'), NOTHING);
  }
  stream.on('data', take);
  stream.on('end', end);
  stream.on('close', leave);
  stream.on('error', leave);
}

const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset[ \t]*=[ \t]*("utf-8"|utf-8)[ \t]*)?$/i;

/** Refuses everything but JSON in UTF-8, named once and not compressed. */
export function requireJson({ rawHeaders, headers }: IncomingMessage): void {
  const [type = '', ...more] = occurrences(rawHeaders, 'content-type');
  if (!JSON_TYPE.test(type) || more.length > 0) {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'the Content-Type must be application/json');
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'the body must not have a Content-Encoding');
  }
}

/** Whether bytes follow the headers. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}
