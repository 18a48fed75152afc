import type { Leftovers } from './leftovers.ts';
import { splitIntoParts } from './parts.ts';
import type { S3Client } from './s3-client.ts';
import { S3ResponseError } from './s3-transport.ts';

/** Larger objects are sent in parts of this size. At most two parts are in memory. */
export const PART_BYTES = 8 * 1024 * 1024;
/** A failed write waits this long for the deletion of its parts. */
const ABORT_MS = 2_000;

interface UploadOptions {
  s3: S3Client;
  bucket: string;
  partBytes: number;
  /** Removes everything under the key of a failed upload. */
  leftovers: Leftovers;
}

/** Returns a function that stores the bytes as an object and resolves with their number. */
export function createUpload({ s3, bucket, partBytes, leftovers }: UploadOptions) {
  async function putObject(key: string, bytes: Buffer, signal?: AbortSignal): Promise<number> {
    try {
      await s3.request((client) => client.putObject(bucket, key, bytes, bytes.length), signal);
      return bytes.length;
    } catch (error) {
      if (mayHaveTakenEffect(error)) leftovers.add(key);
      throw error;
    }
  }

  async function putParts(
    key: string,
    bytes: AsyncIterable<Buffer>,
    uploadID: string,
    signal?: AbortSignal,
  ): Promise<number> {
    const parts: { part: number; etag: string }[] = [];
    let size = 0;
    for await (const chunk of bytes) {
      const partNumber = parts.length + 1;
      const config = { bucketName: bucket, objectName: key, uploadID, partNumber, headers: {} };
      const { etag } = await s3.request((client) => client.uploadPart(config, chunk), signal);
      parts.push({ part: partNumber, etag });
      size += chunk.length;
    }
    await s3
      .request((client) => client.completeMultipartUpload(bucket, key, uploadID, parts), signal)
      .catch((error: unknown) => {
        if (mayHaveTakenEffect(error)) leftovers.add(key);
        throw error;
      });
    return size;
  }

  async function abort(key: string, uploadID: string): Promise<void> {
    const timeout = AbortSignal.timeout(ABORT_MS);
    await s3
      .request((client) => client.abortMultipartUpload(bucket, key, uploadID), timeout)
      .catch(() => leftovers.add(key));
  }

  async function putLarge(key: string, bytes: AsyncIterable<Buffer>, signal?: AbortSignal): Promise<number> {
    const uploadID = await s3
      .request((client) => client.initiateNewMultipartUpload(bucket, key, {}), signal)
      .catch((error: unknown) => {
        if (mayHaveTakenEffect(error)) leftovers.add(key);
        throw error;
      });
    try {
      return await putParts(key, bytes, uploadID, signal);
    } catch (error) {
      await abort(key, uploadID);
      throw error;
    }
  }

  return async (key: string, bytes: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<number> => {
    const parts = splitIntoParts(bytes, partBytes);
    const { value: first = Buffer.alloc(0) } = await parts.next();
    // An object is larger than one part if there is a second part.
    const second = await parts.next();
    if (second.done) return putObject(key, first, signal);
    async function* all() {
      yield first;
      yield second.value as Buffer;
      yield* parts;
    }
    return putLarge(key, all(), signal);
  };
}

/** Timeouts of proxies: the store behind the proxy may have performed the request. */
const UNCERTAIN = new Set([408, 499]);
/** Not Implemented and Insufficient Storage. */
const REFUSED = new Set([501, 507]);

/** Whether the store may have performed a request that failed. */
function mayHaveTakenEffect(error: unknown): boolean {
  if (!(error instanceof S3ResponseError)) return true;
  return UNCERTAIN.has(error.status) || (error.status >= 500 && !REFUSED.has(error.status));
}
