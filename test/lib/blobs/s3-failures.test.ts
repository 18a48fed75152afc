import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Blobs } from '../../../lib/blobs/blobs.ts';
import { openS3 } from '../../../lib/blobs/s3.ts';
import type { Deadlines } from '../../../lib/blobs/s3-transport.ts';
import { patternBytes, readAll } from '../../support/blob-conformance.ts';
import { type Failure, FakeS3, type S3Operation } from '../../support/fake-s3.ts';
import { until } from '../../support/wait.ts';

const PART_BYTES = 1_024;
const SMALL = Buffer.from('hello');
/** Three parts. */
const LARGE = patternBytes(3 * PART_BYTES);
const DEADLINES: Deadlines = {
  connectMs: 5_000,
  idleMs: 1_500,
  errorBodyMs: 30,
  requestMs: 2_000,
  checkMs: 2_000,
};
const HOUR_MS = 3_600_000;
/** A call that waits for one of these deadlines exceeds the time limit of a test. */
const NO_DEADLINES: Deadlines = {
  ...{ connectMs: HOUR_MS, idleMs: HOUR_MS, errorBodyMs: HOUR_MS },
  ...{ requestMs: HOUR_MS, checkMs: HOUR_MS },
};
/** Above all deadlines, with time for a busy machine. */
const LIMIT_MS = 10_000;

const STATUSES = Array.from({ length: 200 }, (_, index) => 400 + index);
/** Statuses whose meaning differs, and every ninth of the others. */
const SAMPLE = STATUSES.filter((status) => [404, 501, 503, 507].includes(status) || status % 9 === 0);
const BATCH = 25;

type Work = (blobs: Blobs, key: string) => Promise<unknown>;

/** Every request of the store, and the call that sends it. */
const OPERATIONS: readonly (readonly [string, S3Operation, Work])[] = [
  ['a write', 'PutObject', (blobs, key) => blobs.write([SMALL], { key })],
  ['the begin of a write in parts', 'CreateMultipartUpload', (blobs, key) => blobs.write([LARGE], { key })],
  ['a part of a write', 'UploadPart', (blobs, key) => blobs.write([LARGE], { key })],
  ['the end of a write in parts', 'CompleteMultipartUpload', (blobs, key) => blobs.write([LARGE], { key })],
  ['a read', 'GetObject', (blobs, key) => readAll(blobs, key)],
  ['a read of a range', 'GetObject', (blobs, key) => readAll(blobs, key, { offset: 1, length: 2 })],
  ['a query of a size', 'HeadObject', (blobs, key) => blobs.sizeOf(key)],
  ['a deletion', 'DeleteObject', (blobs, key) => blobs.delete(key)],
];

/** The connection does not matter to the code, so a sample shows that the other responses end. */
const MANNERS: readonly (readonly [string, Partial<Failure>, readonly number[]])[] = [
  ['a body', { code: 'AnyCode' }, STATUSES],
  ['no body', {}, STATUSES],
  ['a body that is closed early', { code: 'AnyCode', manner: 'closed' }, SAMPLE],
  ['silence after the head', { manner: 'head' }, SAMPLE],
];

let store: FakeS3;
let blobs: Blobs;
beforeEach(async () => {
  store = await new FakeS3().start();
  blobs = await open(DEADLINES);
});
afterEach(async () => {
  await blobs.close();
  await store[Symbol.asyncDispose]();
});

function open(deadlines: Deadlines): Promise<Blobs> {
  return openS3({
    ...{ endpoint: store.endpoint, bucket: 'bucket', region: 'us-east-1', accessKey: 'key' },
    ...{ secretKey: 'secret', partBytes: PART_BYTES, deadlines },
    onError: () => {},
  });
}

/** Returns the code of a failure; `late` when the call did not end. */
async function codeOf(work: Promise<unknown>): Promise<string> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(() => resolve('late'), LIMIT_MS);
  });
  const outcome = work.then(
    () => 'OK',
    (error: { code?: string }) => error.code ?? String(error),
  );
  return Promise.race([outcome, late]).finally(() => clearTimeout(timer));
}

const keyOf = (status: number) => status.toString().padStart(40, '0');

/** The code of a status. HEAD has no body that could name an unknown object. */
function expectedCode(status: number, operation: S3Operation): string {
  if (operation === 'HeadObject' && status === 404) return 'OK';
  return status === 507 ? 'STORAGE_FULL' : 'DEPENDENCY_UNAVAILABLE';
}

/** Runs the work for every status, some at once. The key selects the status. */
async function outcomesOf(
  operation: S3Operation,
  manner: Partial<Failure>,
  statuses: readonly number[],
  work: Work,
): Promise<[number, string][]> {
  store.failure = (requested, key) =>
    requested === operation && key !== '' ? { status: Number(key), ...manner } : undefined;
  const outcomes: [number, string][] = [];
  for (let from = 0; from < statuses.length; from += BATCH) {
    const batch = statuses.slice(from, from + BATCH);
    outcomes.push(
      ...(await Promise.all(
        batch.map(
          async (status): Promise<[number, string]> => [status, await codeOf(work(blobs, keyOf(status)))],
        ),
      )),
    );
  }
  return outcomes;
}

describe('openS3 with a store that answers with a status from 400 to 599', () => {
  const cases = OPERATIONS.flatMap(([name, operation, work]) =>
    MANNERS.map(
      ([described, manner, statuses]) => [name, described, operation, manner, statuses, work] as const,
    ),
  );

  it.each(cases)(
    'ends %s with the documented code for %s, and leaves nothing in the store',
    async (_, __, operation, manner, statuses, work) => {
      const outcomes = await outcomesOf(operation, manner, statuses, work);
      expect(outcomes).toEqual(statuses.map((status) => [status, expectedCode(status, operation)]));
      store.failure = () => undefined;
      await until('the remains are removed', () => store.contents.length === 0);
    },
  );

  it.each(MANNERS)('ends lists with the documented code for %s', async (_, manner) => {
    for (const status of [400, 403, 404, 429, 500, 501, 502, 503, 504, 507, 599]) {
      store.failure = () => ({ status, ...manner });
      const expected = expectedCode(status, 'ListObjects');
      const outcomes = await Promise.all([
        codeOf(Array.fromAsync(blobs.list())),
        codeOf(blobs.deleteIncompleteWrites(new Date())),
        codeOf(blobs.check()),
      ]);
      expect([status, ...outcomes]).toEqual([status, expected, expected, expected]);
    }
  });
});

describe('openS3 with a store that does not complete a response', () => {
  const silent = { status: 0, manner: 'silent' } as const;
  const dripping = { status: 200, manner: 'drip' } as const;
  const lost = { status: 200, manner: 'lost' } as const;

  it.each([
    ['silence', silent],
    ['an endless body', dripping],
    ['a connection that is closed after the operation', lost],
  ])(
    'ends each call with DEPENDENCY_UNAVAILABLE within its deadline after %s, and leaves nothing in the store',
    async (_, failure) => {
      const keys = new Map(OPERATIONS.map(([name], index) => [name, keyOf(index)]));
      const failing = new Map(OPERATIONS.map(([name, operation]) => [keys.get(name), operation]));
      store.failure = (operation, key) => (failing.get(key) === operation ? failure : undefined);
      const codes = await Promise.all(
        OPERATIONS.map(async ([name, , work]) => [name, await codeOf(work(blobs, keys.get(name) ?? ''))]),
      );
      // The response to HEAD is complete with its head.
      const codeAfter = (operation: S3Operation) =>
        operation === 'HeadObject' && failure === dripping ? 'OK' : 'DEPENDENCY_UNAVAILABLE';
      expect(codes).toEqual(OPERATIONS.map(([name, operation]) => [name, codeAfter(operation)]));
      store.failure = () => undefined;
      await until('the remains are removed', () => store.contents.length === 0);
    },
    60_000,
  );

  it('ends the requests of a caller that has left at once', async () => {
    const caller = new AbortController();
    await blobs.close();
    blobs = await open(NO_DEADLINES);
    store.failure = (requested) => (requested === 'PutObject' ? silent : undefined);
    const writing = blobs.write([SMALL], { signal: caller.signal });
    await until('the request is sent', () => store.operations.includes('PutObject'));
    caller.abort();
    await expect(writing).rejects.toMatchObject({ code: 'CANCELLED' });
  });

  it('removes the remains of writes that failed while the store was away', async () => {
    store.failure = (operation) => {
      if (operation === 'UploadPart') return { status: 500 };
      return ['AbortMultipartUpload', 'ListMultipartUploads'].includes(operation) ? silent : undefined;
    };
    expect(await codeOf(blobs.write([LARGE]))).toBe('DEPENDENCY_UNAVAILABLE');
    expect(store.contents).toHaveLength(1);
    store.failure = () => undefined;
    await until('the upload is aborted', () => store.contents.length === 0);
  });

  it('deletes discarded objects as soon as the store permits it', async () => {
    const { key } = await blobs.write([SMALL]);
    store.failure = (operation) => (operation === 'DeleteObject' ? { status: 503 } : undefined);
    blobs.discard(key);
    await until('a deletion has failed', () => store.operations.includes('DeleteObject'));
    expect(store.contents).toEqual([key]);
    store.failure = () => undefined;
    await until('the object is deleted', () => store.contents.length === 0);
  });
});

describe('a read of openS3', () => {
  it('does not take the 404 of a proxy for a missing object', async () => {
    const { key } = await blobs.write([SMALL]);
    store.failure = () => ({ status: 404 });
    expect(await codeOf(readAll(blobs, key))).toBe('DEPENDENCY_UNAVAILABLE');
  });
});
