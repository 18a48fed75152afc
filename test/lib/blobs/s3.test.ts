import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlobMissing, type Blobs, BlobsProblem } from '../../../lib/blobs/blobs.ts';
import { openS3 } from '../../../lib/blobs/s3.ts';
import type { Deadlines } from '../../../lib/blobs/s3-transport.ts';
import { describeFailingBlobStore, patternBytes, readAll } from '../../support/blob-conformance.ts';
import { type Failure, FakeS3, type S3Operation } from '../../support/fake-s3.ts';

const MIB = 1024 * 1024;
/** Larger than one part. */
const LARGE = patternBytes(20_000);
const PART_BYTES = 8_192;
const SHORT: Deadlines = { connectMs: 300, idleMs: 500, errorBodyMs: 200, requestMs: 2_000, checkMs: 1_000 };
/** Below the default deadline of an idle request, with time for a busy machine. */
const LIMIT_MS = 15_000;
const UNAVAILABLE = { code: 'DEPENDENCY_UNAVAILABLE' };
const FULL = { code: 'STORAGE_FULL' };

let store: FakeS3;
const opened: Blobs[] = [];
beforeEach(async () => {
  store = await new FakeS3().start();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((blobs) => blobs.close()));
  await store[Symbol.asyncDispose]();
});

async function open(
  deadlines?: Deadlines,
  { endpoint = store.endpoint, partBytes = PART_BYTES } = {},
): Promise<Blobs> {
  const blobs = await openS3({
    ...{ endpoint, bucket: 'bucket', region: 'us-east-1', accessKey: 'key', secretKey: 'secret' },
    onError: () => {},
    partBytes,
    ...(deadlines && { deadlines }),
  });
  opened.push(blobs);
  return blobs;
}

describeFailingBlobStore('openS3 on a failing store (conformance)', async () => {
  const failing = await new FakeS3().start();
  const { endpoint } = failing;
  const blobs = await openS3({
    ...{ endpoint, bucket: 'bucket', region: 'us-east-1', accessKey: 'key', secretKey: 'secret' },
    onError: () => {},
  });
  return {
    blobs: {
      ...blobs,
      async close() {
        await blobs.close();
        await failing[Symbol.asyncDispose]();
      },
    },
    failWrites(reason) {
      const writes = ['PutObject', 'UploadPart', 'CompleteMultipartUpload'];
      const status = reason === 'full' ? 507 : 501;
      failing.failure = (operation) => (reason && writes.includes(operation) ? { status } : undefined);
    },
  };
});

const failOn = (failing: readonly S3Operation[], failure: Failure) => {
  store.failure = (operation) => (failing.includes(operation) ? failure : undefined);
};

/** Fails when `work` takes almost as long as with the default deadlines. */
async function ended<Result>(work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no result within ${LIMIT_MS} ms`)), LIMIT_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Error statuses of S3 servers and proxies, with the error code that S3 documents for the status. */
const FAILURES: readonly [number, string, { code: string }][] = [
  [400, 'InvalidRequest', UNAVAILABLE],
  [400, 'RequestTimeout', UNAVAILABLE],
  [401, 'Unauthorized', UNAVAILABLE],
  [403, 'AccessDenied', UNAVAILABLE],
  [403, 'SignatureDoesNotMatch', UNAVAILABLE],
  [403, 'InvalidAccessKeyId', UNAVAILABLE],
  [403, 'RequestTimeTooSkewed', UNAVAILABLE],
  [403, 'QuotaExceeded', FULL],
  [404, 'NoSuchBucket', UNAVAILABLE],
  [404, 'NoSuchUpload', UNAVAILABLE],
  [405, 'MethodNotAllowed', UNAVAILABLE],
  [408, 'RequestTimeout', UNAVAILABLE],
  [409, 'OperationAborted', UNAVAILABLE],
  [411, 'MissingContentLength', UNAVAILABLE],
  [412, 'PreconditionFailed', UNAVAILABLE],
  [413, 'EntityTooLarge', UNAVAILABLE],
  [416, 'InvalidRange', UNAVAILABLE],
  [429, 'TooManyRequests', UNAVAILABLE],
  [499, 'ClientClosedRequest', UNAVAILABLE],
  [500, 'InternalError', UNAVAILABLE],
  [501, 'NotImplemented', UNAVAILABLE],
  [502, 'BadGateway', UNAVAILABLE],
  [503, 'SlowDown', UNAVAILABLE],
  [503, 'ServiceUnavailable', UNAVAILABLE],
  [504, 'GatewayTimeout', UNAVAILABLE],
  [507, 'InsufficientCapacity', FULL],
  [507, 'XMinioStorageFull', FULL],
  [520, 'UnknownError', UNAVAILABLE],
];

describe('openS3 with a store that answers with an error', () => {
  it.each(FAILURES)('maps %i %s to a Refusal within 5 s', async (status, code, refusal) => {
    const blobs = await open();
    const { key } = await blobs.write([Buffer.from('hello')]);
    failOn(['PutObject'], { status, code });
    await expect(ended(blobs.write([Buffer.from('hello')]))).rejects.toMatchObject(refusal);
    store.failure = () => ({ status, code });
    await expect(ended(readAll(blobs, key))).rejects.toMatchObject(refusal);
    await expect(ended(blobs.delete(key))).rejects.toMatchObject(refusal);
    await expect(ended(Array.fromAsync(blobs.list()))).rejects.toMatchObject(refusal);
    await expect(ended(blobs.deleteIncompleteWrites(new Date()))).rejects.toMatchObject(refusal);
    store.failure = () => undefined;
    expect(String(await readAll(blobs, key))).toBe('hello');
  });

  it.each([
    [403, UNAVAILABLE],
    [500, UNAVAILABLE],
    [501, UNAVAILABLE],
    [503, UNAVAILABLE],
    [507, FULL],
  ])('maps %i in any step of a multipart upload to a Refusal within 5 s', async (status, refusal) => {
    const blobs = await open();
    for (const operation of ['CreateMultipartUpload', 'UploadPart', 'CompleteMultipartUpload'] as const) {
      failOn([operation], { status, code: 'Any' });
      await expect(ended(blobs.write([LARGE]))).rejects.toMatchObject(refusal);
    }
  });

  it.each([
    [403, UNAVAILABLE],
    [500, UNAVAILABLE],
    [501, UNAVAILABLE],
    [503, UNAVAILABLE],
    [507, FULL],
  ])('maps %i without a body to a Refusal', async (status, refusal) => {
    const blobs = await open();
    failOn(['PutObject'], { status });
    await expect(ended(blobs.write([Buffer.from('hello')]))).rejects.toMatchObject(refusal);
  });

  it.each([500, 501, 503, 507])('does not wait for the rest of the body of %i', async (status) => {
    const blobs = await open(SHORT);
    failOn(['PutObject'], { status, code: 'Any', manner: 'unfinished' });
    const refusal = status === 507 ? FULL : UNAVAILABLE;
    await expect(ended(blobs.write([Buffer.from('hello')]))).rejects.toMatchObject(refusal);
  });

  it('stops sending a part when the store answers 507 before it has read the part', async () => {
    const blobs = await open();
    failOn(['UploadPart'], { status: 507, code: 'InsufficientCapacity', manner: 'early' });
    await expect(ended(blobs.write([patternBytes(20 * MIB)]))).rejects.toMatchObject(FULL);
  });

  it('uses the connections of error responses again', async () => {
    const blobs = await open();
    failOn(['PutObject'], { status: 429, code: 'TooManyRequests' });
    for (let time = 0; time < 20; time++)
      await expect(blobs.write([Buffer.from('hello')])).rejects.toMatchObject(UNAVAILABLE);
    expect(store.connections).toBeLessThanOrEqual(2);
  });

  it('deletes the parts of an object that the store refused', async () => {
    const blobs = await open();
    failOn(['CompleteMultipartUpload'], { status: 507 });
    await expect(blobs.write([LARGE])).rejects.toMatchObject(FULL);
    expect(store.operations.at(-1)).toBe('AbortMultipartUpload');
  });

  it('reports the refusal within 5 s when the deletion of the parts hangs', async () => {
    const blobs = await open();
    store.failure = (operation) => {
      if (operation === 'UploadPart') return { status: 507 };
      return operation === 'AbortMultipartUpload' ? { status: 0, manner: 'silent' } : undefined;
    };
    await expect(ended(blobs.write([LARGE]))).rejects.toMatchObject(FULL);
  });

  it('returns undefined or throws BlobMissing for 404 on an object', async () => {
    const blobs = await open();
    expect(await blobs.sizeOf('0'.repeat(40))).toBeUndefined();
    await expect(readAll(blobs, '0'.repeat(40))).rejects.toThrow(BlobMissing);
  });

  it('rejects with BlobsProblem when the store denies access at the start', async () => {
    failOn(['HeadBucket'], { status: 403 });
    await expect(open()).rejects.toThrow(BlobsProblem);
  });
});

describe('check of openS3', () => {
  it('fails with STORAGE_FULL from a refused write until the store accepts a small object, and leaves no object', async () => {
    const blobs = await open();
    await blobs.check();
    failOn(['PutObject'], { status: 507, code: 'InsufficientCapacity' });
    await expect(blobs.write([Buffer.from('hello')])).rejects.toMatchObject(FULL);
    await expect(blobs.check()).rejects.toMatchObject(FULL);
    await expect(blobs.check()).rejects.toMatchObject(FULL);
    store.failure = () => undefined;
    await blobs.check();
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });

  it.each([
    ['PutObject', { status: 507 }, FULL],
    ['PutObject', { status: 403, code: 'AccessDenied' }, UNAVAILABLE],
    ['GetObject', { status: 500 }, UNAVAILABLE],
    ['DeleteObject', { status: 503 }, UNAVAILABLE],
  ] as const)(
    'fails without any traffic while %s is answered with %j',
    async (operation, failure, refusal) => {
      failOn([operation], failure);
      const blobs = await open();
      await expect(blobs.check()).rejects.toMatchObject(refusal);
      store.failure = () => undefined;
      await blobs.check();
      expect(store.contents).toEqual([]);
    },
  );

  it('sends no request within a second of a successful check', async () => {
    const blobs = await open();
    await blobs.check();
    const before = store.operations.length;
    await Promise.all([blobs.check(), blobs.check()]);
    expect(store.operations.length).toBe(before);
  });

  it('sends one request for concurrent checks, and ends it when its deadline passes', async () => {
    const blobs = await open(SHORT);
    const before = store.operations.length;
    failOn(['PutObject'], { status: 0, manner: 'silent' });
    const checks = await ended(Promise.allSettled([blobs.check(), blobs.check(), blobs.check()]));
    expect(checks.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(store.operations.slice(before)).toEqual(['PutObject']);
    store.failure = () => undefined;
    await ended(blobs.check());
  });
});

describe('deadlines of openS3', () => {
  it('gives up when the store does not answer', async () => {
    const blobs = await open(SHORT);
    failOn(['PutObject'], { status: 0, manner: 'silent' });
    await expect(ended(blobs.write([Buffer.from('hello')]))).rejects.toMatchObject(UNAVAILABLE);
  });

  it('gives up when the response stops in its middle', async () => {
    const blobs = await open(SHORT);
    const { key } = await blobs.write([Buffer.from('hello')]);
    failOn(['GetObject'], { status: 200, code: 'Any', manner: 'unfinished' });
    await expect(ended(readAll(blobs, key))).rejects.toMatchObject(UNAVAILABLE);
  });

  it('does not count the time that a reader takes between two chunks', async () => {
    const blobs = await open(SHORT, { partBytes: 8 * MIB });
    const bytes = patternBytes(8 * MIB);
    const { key } = await blobs.write([bytes]);
    let size = 0;
    for await (const chunk of blobs.read(key)) {
      if (size === 0) await new Promise((resolve) => setTimeout(resolve, 1_800));
      size += chunk.length;
    }
    expect(size).toBe(bytes.length);
  });

  it('gives up when the TLS handshake does not end', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    try {
      const blobs = await ended(open(SHORT, { endpoint: `https://127.0.0.1:${port}` }));
      await expect(ended(blobs.check())).rejects.toMatchObject(UNAVAILABLE);
    } finally {
      silent.close();
    }
  });
});
