import { BlobMissing, type Blobs, BlobsProblem, checkKey, newKey } from './blobs.ts';
import { withDeadline } from './deadline.ts';
import { asRefusal, codeOf, isUnauthorized } from './failure.ts';
import { Leftovers } from './leftovers.ts';
import { ObservedSource } from './observed-source.ts';
import { openS3Client } from './s3-client.ts';
import { readBody } from './s3-read.ts';
import { DEADLINES, type Deadlines } from './s3-transport.ts';
import { createUpload, PART_BYTES } from './s3-upload.ts';

interface S3Options {
  /** http:// or https://, with a port unless it is the default port. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKey: string;
  secretKey: string;
  /** Called when the bucket cannot be prepared at the start. */
  onError: (error: unknown) => void;
  deadlines?: Deadlines;
  /** Larger objects are sent in parts of this size. */
  partBytes?: number;
}

const PAGE = 1_000;
/** A check within this time of a successful one succeeds without a request. */
const CHECK_AGE_MS = 1_000;

/**
 * Stores objects in a bucket of any store that speaks S3, and creates the bucket when it does not exist. Opening
 * succeeds while the store is unreachable. Every wait for the store has a time limit (`Deadlines`). Throws BlobsProblem
 * when the store denies access.
 */
export async function openS3({ onError, partBytes = PART_BYTES, ...options }: S3Options): Promise<Blobs> {
  const { bucket, deadlines = DEADLINES } = options;
  const s3 = openS3Client({ ...options, deadlines });
  const leftovers = new Leftovers(removeAll);
  const upload = createUpload({ s3, bucket, partBytes, leftovers });
  /** The object with which this process checks the store. A check replaces one that an earlier check could not delete. */
  const checkedKey = newKey();
  let checking: Promise<void> | undefined;
  let checkedAt = Number.NEGATIVE_INFINITY;

  async function* incompleteUploads(prefix = '') {
    let [keyMarker, idMarker] = ['', ''];
    for (let isTruncated = true; isTruncated; ) {
      const page = await s3.request((client) =>
        client.listIncompleteUploadsQuery(bucket, prefix, keyMarker, idMarker, ''),
      );
      yield* page.uploads;
      ({ isTruncated } = page);
      [keyMarker, idMarker] = [page.nextKeyMarker, page.nextUploadIdMarker];
    }
  }

  async function abortUpload(key: string, uploadId: string): Promise<void> {
    await s3
      .request((client) => client.abortMultipartUpload(bucket, key, uploadId))
      .catch((error: unknown) => {
        // Another process may have aborted it.
        if (codeOf(error) !== 'NoSuchUpload') throw error;
      });
  }

  async function deleteObject(key: string, signal?: AbortSignal): Promise<void> {
    await s3
      .request((client) => client.removeObject(bucket, key), signal)
      .catch((error: unknown) => {
        if (codeOf(error) !== 'NoSuchKey') throw error;
      });
  }

  /** Removes the object and the multipart uploads of a key. */
  async function removeAll(key: string): Promise<void> {
    await s3.withBucket(async () => {
      for await (const { key: found, uploadId } of incompleteUploads(key)) await abortUpload(found, uploadId);
      await deleteObject(key);
    });
  }

  /** Writes, reads and deletes a small object: a full store can still be reached. */
  async function probe(signal: AbortSignal): Promise<void> {
    const bytes = Buffer.from(checkedKey);
    await s3.withBucket(async () => {
      await s3.request((client) => client.putObject(bucket, checkedKey, bytes, bytes.length), signal);
      const stream = await s3.request((client) => client.getObject(bucket, checkedKey), signal);
      const read = await Array.fromAsync(
        readBody(stream, { isRange: false, limitMs: deadlines.checkMs, signal }),
      );
      if (!Buffer.concat(read).equals(bytes))
        throw new Error('The object store returned other bytes than those that were written.');
      await deleteObject(checkedKey, signal);
    }, signal);
    checkedAt = performance.now();
  }

  try {
    await s3.prepareBucket();
  } catch (error) {
    if (isUnauthorized(error)) throw accessDenied(bucket, error);
    onError(error);
  }

  return {
    description: `bucket ${bucket} at ${new URL(options.endpoint).origin}`,

    async write(bytes, { key = newKey(), signal } = {}) {
      checkKey(key);
      const source = new ObservedSource(bytes, signal);
      try {
        return { key, size: await s3.withBucket(() => upload(key, source, signal), signal) };
      } catch (error) {
        if (source.failure) throw source.failure.error;
        checkedAt = Number.NEGATIVE_INFINITY;
        throw error;
      }
    },

    async *read(key, { offset, length } = { offset: 0 }, signal) {
      checkKey(key);
      if (length === 0) return;
      const stream = await s3
        .withBucket(
          () => s3.request((client) => client.getPartialObject(bucket, key, offset, length), signal),
          signal,
        )
        .catch((error: unknown) => {
          throw isMissing(error, ['NoSuchKey']) ? new BlobMissing(key) : error;
        });
      const isRange = offset > 0 || length !== undefined;
      try {
        yield* readBody(stream, { isRange, limitMs: deadlines.requestMs, signal });
      } catch (error) {
        throw asRefusal(error, signal);
      }
    },

    async sizeOf(key) {
      checkKey(key);
      try {
        return await s3.withBucket(
          async () => (await s3.request((client) => client.statObject(bucket, key))).size,
        );
      } catch (error) {
        // The response to HEAD has no body and therefore no code.
        if (isMissing(error, ['NoSuchKey', 'NotFound'])) return undefined;
        throw error;
      }
    },

    async delete(key) {
      checkKey(key);
      await s3.withBucket(() => deleteObject(key));
    },

    discard: (key) => leftovers.add(checkKey(key)),

    async *list(after = '') {
      for (let token: string | undefined = ''; token !== undefined; ) {
        const from: string = token;
        const query = () =>
          s3.request((client) => client.listObjectsV2Query(bucket, '', from, '', PAGE, after));
        const page = await s3.withBucket(query);
        for (const { name, size, lastModified } of page.objects)
          if (name !== undefined && lastModified) yield { key: name, size, writtenAt: lastModified };
        token = page.isTruncated ? String(page.nextContinuationToken) : undefined;
      }
    },

    async deleteIncompleteWrites(before) {
      let deleted = 0;
      await s3.withBucket(async () => {
        for await (const { key, uploadId, initiated } of incompleteUploads()) {
          if (new Date(initiated) >= before) continue;
          await abortUpload(key, uploadId);
          deleted++;
        }
      });
      return deleted;
    },

    // Checks that begin while one is open share its result, so that a hanging store collects no requests.
    async check() {
      if (performance.now() - checkedAt < CHECK_AGE_MS) return;
      checking ??= withDeadline(deadlines.checkMs, undefined, probe)
        .catch((error: unknown) => {
          throw asRefusal(error);
        })
        .finally(() => {
          checking = undefined;
        });
      await checking;
    },

    async close() {
      leftovers.close();
      s3.close();
    },
  };
}

function isMissing(error: unknown, codes: readonly string[]): boolean {
  return (
    error instanceof Error &&
    (codes.includes(codeOf(error)) || (error.cause !== undefined && isMissing(error.cause, codes)))
  );
}

function accessDenied(bucket: string, error: unknown): BlobsProblem {
  return new BlobsProblem(
    'SERVICE_S3_ACCESS_KEY',
    `: the object store denies this user access to the bucket ${bucket} (${codeOf(error)})`,
    'the keys of a user who may use or create the bucket',
    'correct SERVICE_S3_ACCESS_KEY, SERVICE_S3_SECRET_KEY or SERVICE_S3_BUCKET',
    error,
  );
}
