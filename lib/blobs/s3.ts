import * as http from 'node:http';
import * as https from 'node:https';
import { Client } from 'minio';
import { refuse } from '../errors.ts';
import { BlobMissing, type Blobs, BlobsProblem, checkKey, newKey } from './blobs.ts';
import { asRefusal, codeOf, isUnauthorized } from './failure.ts';
import { partsOf } from './parts.ts';
import { Tapped } from './tapped.ts';

export interface S3Options {
  /** http:// or https://, with a port where it is not the usual one. */
  endpoint: string;
  bucket: string;
  region: string;
  accessKey: string;
  secretKey: string;
  /** Told when the bucket could not be made ready yet. */
  onError: (error: unknown) => void;
}

/** An object is sent in parts of this size; one that is not larger goes in one piece. Two are in memory at most. */
const PART_BYTES = 8 * 1024 * 1024;
/** A connection over which nothing comes for so long is given up. */
const SILENCE_MS = 30_000;
const MISSING = new Set(['NoSuchKey', 'NotFound']);

/**
 * Keeps objects in a bucket of any store that speaks S3. The bucket is made when it is not there. It does not wait
 * for the store to be there; but one that is, and does not let this user in, is a BlobsProblem.
 */
export async function openS3({ bucket, region, onError, ...options }: S3Options): Promise<Blobs> {
  const url = new URL(options.endpoint);
  const isSecure = url.protocol === 'https:';
  const agent = isSecure ? new https.Agent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  const client = new Client({
    endPoint: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? (isSecure ? 443 : 80) : Number(url.port),
    useSSL: isSecure,
    region,
    accessKey: options.accessKey,
    secretKey: options.secretKey,
    transport: { request: impatient(isSecure ? https : http) },
    transportAgent: agent,
    // It would tell of them on the console. Whoever calls knows better what is worth another try.
    retryOptions: { disableRetry: true },
  });
  /** The bucket was there. */
  let ready = false;

  async function prepare(): Promise<void> {
    if (ready) return;
    if (!(await client.bucketExists(bucket))) {
      await client.makeBucket(bucket, region).catch((error: unknown) => {
        // Another process of ours was faster.
        if (codeOf(error) !== 'BucketAlreadyOwnedByYou') throw error;
      });
    }
    ready = true;
  }

  /** Carries out what needs the bucket. */
  async function using<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    try {
      if (signal?.aborted) throw refuse('CANCELLED', 'the caller left before the answer');
      await prepare();
      return await work();
    } catch (error) {
      if (codeOf(error) === 'NoSuchBucket') ready = false;
      throw asRefusal(error, signal);
    }
  }

  async function writeParts(key: string, first: Buffer, rest: AsyncIterable<Buffer>): Promise<number> {
    const upload = await client.initiateNewMultipartUpload(bucket, key, {});
    try {
      const parts: { part: number; etag: string }[] = [];
      let size = 0;
      const send = async (bytes: Buffer) => {
        const part = parts.length + 1;
        const config = {
          bucketName: bucket,
          objectName: key,
          uploadID: upload,
          partNumber: part,
          headers: {},
        };
        const { etag } = await client.uploadPart(config, bytes);
        parts.push({ part, etag });
        size += bytes.length;
      };
      await send(first);
      for await (const bytes of rest) await send(bytes);
      await client.completeMultipartUpload(bucket, key, upload, parts);
      return size;
    } catch (error) {
      // What is left behind when this fails, too, is found by `tidy`.
      await client.abortMultipartUpload(bucket, key, upload).catch(() => {});
      throw error;
    }
  }

  async function write(key: string, bytes: AsyncIterable<Uint8Array>): Promise<number> {
    const parts = partsOf(bytes, PART_BYTES);
    const { value: first = Buffer.alloc(0) } = await parts.next();
    // Only whoever asks for the next part knows whether there is one.
    const second = await parts.next();
    if (second.done) {
      await client.putObject(bucket, key, first, first.length);
      return first.length;
    }
    return writeParts(
      key,
      first,
      (async function* () {
        yield second.value;
        yield* parts;
      })(),
    );
  }

  try {
    await prepare();
  } catch (error) {
    if (isUnauthorized(error)) throw unusable(bucket, error);
    onError(error);
  }

  return {
    about: `bucket ${bucket} at ${url.origin}`,

    async write(bytes, { key = newKey(), signal } = {}) {
      const tapped = new Tapped(bytes, signal);
      try {
        return await using(async () => ({ key, size: await write(checkKey(key), tapped) }), signal);
      } catch (error) {
        throw tapped.failure ? tapped.failure.error : error;
      }
    },

    async *read(key, { offset, length } = { offset: 0 }, signal) {
      if (length === 0) return;
      const stream = await using(async () => {
        return client.getPartialObject(bucket, checkKey(key), offset, length);
      }, signal).catch((error: unknown) => {
        throw missing(error) ? new BlobMissing(key) : error;
      });
      const leave = () => stream.destroy(new Error('the caller left'));
      signal?.addEventListener('abort', leave, { once: true });
      try {
        yield* stream;
      } catch (error) {
        throw asRefusal(error, signal);
      } finally {
        signal?.removeEventListener('abort', leave);
        stream.destroy();
      }
    },

    sizeOf: (key) =>
      using(async () => (await client.statObject(bucket, checkKey(key))).size).catch((error: unknown) => {
        if (missing(error)) return undefined;
        throw error;
      }),

    delete: (key) => using(() => client.removeObject(bucket, checkKey(key))),

    async *list(after = '') {
      await using(async () => {});
      try {
        for await (const { name, size, lastModified } of client.listObjectsV2(bucket, '', true, after)) {
          if (name !== undefined && lastModified) yield { key: name, size, writtenAt: lastModified };
        }
      } catch (error) {
        throw asRefusal(error);
      }
    },

    async tidy(before) {
      let removed = 0;
      await using(async () => {
        for await (const { key, uploadId, initiated } of client.listIncompleteUploads(bucket, '', true)) {
          if (new Date(initiated) >= before) continue;
          await client.abortMultipartUpload(bucket, key, uploadId);
          removed++;
        }
      });
      return removed;
    },

    async check() {
      ready = false;
      await using(async () => {});
    },

    async close() {
      agent.destroy();
    },
  };
}

function missing(error: unknown): boolean {
  return (
    error instanceof Error &&
    (MISSING.has(codeOf(error)) || (error.cause !== undefined && missing(error.cause)))
  );
}

function unusable(bucket: string, error: unknown): BlobsProblem {
  return new BlobsProblem(
    'SERVICE_S3_ACCESS_KEY',
    `: the object store does not let this user use the bucket ${bucket} (${codeOf(error)})`,
    'the keys of a user who may use the bucket, or make it',
    'correct SERVICE_S3_ACCESS_KEY, SERVICE_S3_SECRET_KEY or SERVICE_S3_BUCKET',
    error,
  );
}

/** Requests that nobody answers end; and so do the connections of answers that nobody reads. */
function impatient(transport: Pick<typeof http, 'request'>): typeof http.request {
  const request = (options: http.RequestOptions, answered?: (response: http.IncomingMessage) => void) => {
    const sent = transport.request(options, (response) => {
      // The client throws at these without reading them.
      if ((response.statusCode ?? 0) >= 500) response.resume();
      answered?.(response);
    });
    return sent.setTimeout(SILENCE_MS, () => sent.destroy(new Error(`silent for ${SILENCE_MS} ms`)));
  };
  return request as typeof http.request;
}
