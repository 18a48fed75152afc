import compress, { type FastifyCompressOptions } from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

/** Shorter responses hardly become smaller. In bytes. */
const MIN_BYTES = 1024;

/** The defaults of the library would also accept zstd, which few clients can read. */
export const COMPRESSION: FastifyCompressOptions = {
  global: false,
  threshold: MIN_BYTES,
  encodings: ['br', 'gzip'],
};

/** Lets routes compress their responses. Routes that are registered later can ask for it. */
export async function allowCompression(app: FastifyInstance): Promise<void> {
  await app.register(compress, { ...COMPRESSION, globalDecompression: false });
}

/**
 * Returns the compression of a route's response. A response with a secret is never compressed, because its length would
 * depend on the secret (https://breachattack.com).
 */
export function compressionOf({
  success,
}: {
  success: { secret?: boolean };
}): FastifyCompressOptions | false {
  return success.secret ? false : COMPRESSION;
}
