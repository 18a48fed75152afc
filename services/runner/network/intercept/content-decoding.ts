import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable, Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { ProxyRefusal } from './proxy-refusal.ts';

/** An answer may expand to this many times its received bytes; the first FREE_BYTES are exempt. */
const MAX_RATIO = 100;
const FREE_BYTES = 1024 * 1024;

const DECODERS = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/**
 * Returns the body of an answer without its content coding. The stream fails when the body expands too much. Throws a
 * ProxyRefusal (502) for a coding that the proxy cannot read.
 */
export function decodedBody(answer: IncomingMessage): Readable {
  const coding = (answer.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (coding === 'identity' || coding === '') return answer;
  if (!(coding in DECODERS))
    throw new ProxyRefusal(502, 'The host answered with a content coding that the proxy cannot read.');
  let received = 0;
  let decoded = 0;
  const countReceived = new Transform({
    transform(chunk: Buffer, _, done) {
      received += chunk.length;
      done(null, chunk);
    },
  });
  const limit = new Transform({
    transform(chunk: Buffer, _, done) {
      decoded += chunk.length;
      const isTooLarge = decoded > FREE_BYTES && decoded > received * MAX_RATIO;
      if (isTooLarge) done(new Error(`The answer expands to more than ${MAX_RATIO} times its size.`));
      else done(null, chunk);
    },
  });
  const decoder = DECODERS[coding as keyof typeof DECODERS]();
  // Each stream that fails destroys the others; the reader of `limit` gets the error.
  return pipeline(answer, countReceived, decoder, limit, () => {});
}
