import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Blobs, BlobsProblem } from '../../lib/blobs/blobs.ts';
import { openBlobs } from '../../lib/blobs/open.ts';
import { openS3 } from '../../lib/blobs/s3.ts';
import { createLog } from '../../lib/log.ts';
import { chunksOf, describeBlobStore, patternBytes, readAll } from '../support/blob-conformance.ts';
import { type CephServer, type S3User, startCeph } from '../support/ceph.ts';
import { type SwiftServer, startSwift } from '../support/swift.ts';
import { until } from '../support/wait.ts';

const MIB = 1024 * 1024;
const run = promisify(execFile);

describe('openS3 on Ceph', () => {
  let ceph: CephServer;
  const opened: Blobs[] = [];
  const errors: unknown[] = [];
  beforeAll(async () => {
    ceph = await startCeph();
  }, 240_000);
  afterAll(() => ceph?.stop());
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((blobs) => blobs.close()));
    errors.length = 0;
  });

  async function openBucket(
    bucket: string,
    user: S3User = ceph.user,
    endpoint = ceph.endpoint,
  ): Promise<Blobs> {
    const onError = (error: unknown) => errors.push(error);
    const blobs = await openS3({ endpoint, bucket, region: 'us-east-1', ...user, onError });
    opened.push(blobs);
    return blobs;
  }

  describeBlobStore('conformance', () =>
    openS3({
      endpoint: ceph.endpoint,
      bucket: 'conformance',
      region: 'us-east-1',
      ...ceph.user,
      onError: () => {},
    }),
  );

  it('creates its bucket once when three processes open it at the same time', async () => {
    const several = await Promise.all([1, 2, 3].map(() => openBucket('made-by-many')));
    const { key } = await several[0]!.write([Buffer.from('hello')]);
    expect(String(await readAll(several[2]!, key))).toBe('hello');
    expect(errors).toEqual([]);
  });

  it('is opened by openBlobs when an endpoint is set', async () => {
    const lines: string[] = [];
    const log = createLog({
      level: 'debug',
      destination: { write: (line) => lines.push(line) },
    });
    const settings = {
      s3Endpoint: ceph.endpoint,
      s3Bucket: 'by-settings',
      s3Region: 'us-east-1',
      s3AccessKey: ceph.user.accessKey,
      s3SecretKey: ceph.user.secretKey,
    };
    const blobs = await openBlobs(settings, undefined, log);
    opened.push(blobs);
    await blobs.write([Buffer.from('hello')]);
    expect(blobs.description).toBe(`bucket by-settings at ${ceph.endpoint}`);
    expect(lines).toEqual([]);
  });

  it.each([
    ['a wrong secret', () => ({ ...ceph.user, secretKey: 'wrong' })],
    ['an unknown key', () => ({ ...ceph.user, accessKey: 'nobody' })],
  ])('rejects with BlobsProblem for %s, and does not repeat the secret', async (_, user) => {
    const problem = await openBucket('never', user()).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(BlobsProblem);
    expect(String(problem)).not.toContain(user().secretKey);
  });

  it('reports that the user may not create the bucket', async () => {
    const blobs = await openBucket('not-for-guests', ceph.userWithoutBuckets).catch(
      (error: unknown) => error,
    );
    if (blobs instanceof BlobsProblem) return;
    // Ceph uses another error code than AccessDenied, so the problem is reported when the bucket is needed.
    expect(errors).toHaveLength(1);
    await expect((blobs as Blobs).check()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  });

  it('rejects with BlobsProblem for the bucket of another user', async () => {
    await openBucket('of-the-tester');
    await expect(openBucket('of-the-tester', ceph.userWithoutBuckets)).rejects.toThrow(BlobsProblem);
  });

  it('deletes multipart uploads that never ended', async () => {
    const blobs = await openBucket('interrupted');
    const interrupted = blobs.write(
      (async function* () {
        yield* chunksOf(patternBytes(17 * MIB), MIB);
        await ceph.kill();
        yield* chunksOf(patternBytes(17 * MIB), MIB);
      })(),
    );
    await expect(interrupted).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await ceph.restart();
    expect(await blobs.deleteIncompleteWrites(new Date(Date.now() - 60_000))).toBe(0);
    expect(await blobs.deleteIncompleteWrites(new Date(Date.now() + 60_000))).toBe(1);
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });

  it('fails with DEPENDENCY_UNAVAILABLE while the store is down, and works after its restart', async () => {
    const blobs = await openBucket('comes-and-goes');
    const { key } = await blobs.write([Buffer.from('hello')]);
    await ceph.kill();
    const unavailable = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(blobs.check()).rejects.toMatchObject(unavailable);
    await expect(blobs.write([Buffer.from('more')])).rejects.toMatchObject(unavailable);
    await expect(readAll(blobs, key)).rejects.toMatchObject(unavailable);
    await expect(blobs.sizeOf(key)).rejects.toMatchObject(unavailable);
    await expect(blobs.delete(key)).rejects.toMatchObject(unavailable);
    await expect(Array.fromAsync(blobs.list())).rejects.toMatchObject(unavailable);
    await ceph.restart();
    await blobs.check();
    expect(String(await readAll(blobs, key))).toBe('hello');
  });

  it('can be opened while the store is down', async () => {
    await ceph.kill();
    const blobs = await openBucket('opened-early');
    expect(errors).toHaveLength(1);
    await ceph.restart();
    const { key } = await blobs.write([Buffer.from('hello')]);
    expect(String(await readAll(blobs, key))).toBe('hello');
  });

  it('fails a read when the store ends during it', async () => {
    const blobs = await openBucket('cut');
    const { key } = await blobs.write(chunksOf(patternBytes(40 * MIB), MIB));
    const reading = async () => {
      let first = true;
      for await (const _ of blobs.read(key)) {
        if (first) await ceph.kill();
        first = false;
      }
    };
    await expect(reading()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await ceph.restart();
    await until('the store can be used again', () =>
      blobs.check().then(
        () => true,
        () => false,
      ),
    );
  });
});

describe('openS3 on OpenStack Swift', () => {
  let swift: SwiftServer;
  beforeAll(async () => {
    swift = await startSwift();
  });
  afterAll(() => swift?.[Symbol.asyncDispose]());

  describeBlobStore('conformance', () =>
    openS3({
      endpoint: swift.endpoint,
      bucket: 'conformance',
      region: 'us-east-1',
      ...swift.user,
      onError: () => {},
    }),
  );
});

describe('openDirectory', () => {
  it('fails with STORAGE_FULL when the disk is full, and stores again when there is space', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ahs-test-full-'));
    try {
      const program = fileURLToPath(new URL('../lib/blobs/fill-disk.ts', import.meta.url));
      const script = 'mount -t tmpfs -o size=8m none "$1" && exec "$0" "$2" "$1"';
      const args = ['--mount', 'sh', '-c', script, process.execPath, directory, program];
      const { stdout } = await run('unshare', args);
      expect(JSON.parse(stdout)).toEqual({ code: 'STORAGE_FULL', left: [true], again: 'OK' });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
