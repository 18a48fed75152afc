import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { refuse } from '../../lib/errors.ts';
import { noteBufferBytes } from '../../lib/garbage-collection.ts';
import { occurrences } from './headers.ts';

/** The result for a body that exceeds the limit. The rest is discarded, so that the client can read the response. */
export const OVERSIZE = Symbol('oversize');

const EMPTY = Buffer.alloc(0);
/** A body that announces at least this length is read into one buffer. */
const LONG_BODY_BYTES = 1024 * 1024;
/** The chunks of a long body are collected after every 2 MiB, because they are in memory beside it. */
const CHUNK_WEIGHT = 8;

/**
 * Reads a body of at most `limit` bytes. A longer body is given up as soon as its announced or received length exceeds the
 * limit.
 */
export function readBoundedBody(
  stream: Readable,
  contentLength: string | undefined,
  limit: number,
  done: (error: Error | null, body: Buffer | typeof OVERSIZE) => void,
): void {
  if (Number(contentLength) > limit) {
    stream.resume();
    done(null, OVERSIZE);
    return;
  }
  let chunks: Buffer[] = [];
  let length = 0;
  /** The body if its announced length is long. Allocated with the first chunk; only the written pages take memory. */
  let body: Buffer | undefined;
  const announced = Number(contentLength);

  function finish(error: Error | null, result: Buffer | typeof OVERSIZE): void {
    stream.off('data', onData);
    stream.off('end', onEnd);
    stream.off('close', onClose);
    stream.off('error', onClose);
    chunks = [];
    body = undefined;
    done(error, result);
  }
  function onData(chunk: Buffer): void {
    const begin = length;
    length += chunk.length;
    if (announced >= LONG_BODY_BYTES && length <= announced) {
      body ??= Buffer.allocUnsafeSlow(announced);
      chunk.copy(body, begin);
      noteBufferBytes(CHUNK_WEIGHT * chunk.length);
      return;
    }
    chunks.push(chunk);
    if (length <= limit) return;
    finish(null, OVERSIZE);
    stream.resume();
  }
  function onEnd(): void {
    // Always a copy: a chunk is a view of memory that the socket reuses.
    finish(null, length === 0 ? EMPTY : (body?.subarray(0, length) ?? Buffer.concat(chunks, length)));
  }
  function onClose(): void {
    stream.on('error', () => {});
    finish(refuse('CANCELLED', 'The client disconnected before the end of the request.'), EMPTY);
  }
  stream.on('data', onData);
  stream.on('end', onEnd);
  stream.on('close', onClose);
  stream.on('error', onClose);
}

/** Reads a body as `readBoundedBody` does, with its announced length. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | typeof OVERSIZE> {
  return new Promise((resolve, reject) => {
    readBoundedBody(request, request.headers['content-length'], limit, (error, body) =>
      error ? reject(error) : resolve(body),
    );
  });
}

const JSON_TYPE = /^application\/json[ \t]*(;[ \t]*charset[ \t]*=[ \t]*("utf-8"|utf-8)[ \t]*)?$/i;

/** Refuses requests whose Content-Type is not JSON in UTF-8, or whose body is encoded. */
export function requireJson({ rawHeaders, headers }: IncomingMessage): void {
  const [type = '', ...more] = occurrences(rawHeaders, 'content-type');
  if (!JSON_TYPE.test(type) || more.length > 0) {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'The Content-Type must be application/json.');
  }
  if ((headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw refuse('UNSUPPORTED_MEDIA_TYPE', 'A Content-Encoding is not supported. Send the body unencoded.');
  }
}

/** Whether the headers announce a non-empty body. */
export function announcesBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && Number(length) > 0);
}
