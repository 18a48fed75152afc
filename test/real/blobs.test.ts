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
import { bytesOf, conforms, inPieces, patterned } from '../support/blobs.ts';
import { type S3User, startS3, type TestS3 } from '../support/s3.ts';
import { until } from '../support/wait.ts';

const MIB = 1024 * 1024;
const run = promisify(execFile);

describe('objects in a store that speaks S3', () => {
  let s3: TestS3;
  const open: Blobs[] = [];
  const errors: unknown[] = [];
  beforeAll(async () => {
    s3 = await startS3();
  }, 240_000);
  afterAll(() => s3?.stop());
  afterEach(async () => {
    await Promise.all(open.splice(0).map((blobs) => blobs.close()));
    errors.length = 0;
  });

  async function openBucket(bucket: string, user: S3User = s3.user, endpoint = s3.endpoint): Promise<Blobs> {
    const onError = (error: unknown) => errors.push(error);
    const blobs = await openS3({ endpoint, bucket, region: 'us-east-1', ...user, onError });
    open.push(blobs);
    return blobs;
  }

  conforms('of Ceph', () =>
    openS3({
      endpoint: s3.endpoint,
      bucket: 'conformance',
      region: 'us-east-1',
      ...s3.user,
      onError: () => {},
    }),
  );

  it('makes its bucket, once, whoever is first', async () => {
    const several = await Promise.all([1, 2, 3].map(() => openBucket('made-by-many')));
    const { key } = await several[0]!.write([Buffer.from('hello')]);
    expect(String(await bytesOf(several[2]!, key))).toBe('hello');
    expect(errors).toEqual([]);
  });

  it('is opened by its settings', async () => {
    const lines: string[] = [];
    const log = createLog({
      level: 'debug',
      pretty: false,
      destination: { write: (line) => lines.push(line) },
    });
    const settings = {
      s3Endpoint: s3.endpoint,
      s3Bucket: 'by-settings',
      s3Region: 'us-east-1',
      s3AccessKey: s3.user.accessKey,
      s3SecretKey: s3.user.secretKey,
    };
    const blobs = await openBlobs(settings, undefined, log);
    open.push(blobs);
    await blobs.write([Buffer.from('hello')]);
    expect(blobs.about).toBe(`bucket by-settings at ${s3.endpoint}`);
    expect(lines).toEqual([]);
  });

  it.each([
    ['a wrong secret', () => ({ ...s3.user, secretKey: 'wrong' })],
    ['an unknown key', () => ({ ...s3.user, accessKey: 'nobody' })],
  ])('says at once that it was given %s, and does not repeat it', async (_, user) => {
    const problem = await openBucket('never', user()).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(BlobsProblem);
    expect(String(problem)).not.toContain(user().secretKey);
  });

  it('says that a user may not make the bucket', async () => {
    const blobs = await openBucket('not-for-guests', s3.guest).catch((error: unknown) => error);
    if (blobs instanceof BlobsProblem) return;
    // Ceph names it otherwise than a refusal: then it is said when the bucket is needed.
    expect(errors).toHaveLength(1);
    await expect((blobs as Blobs).check()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
  });

  it('does not let one user read the bucket of another', async () => {
    await openBucket('of-the-tester');
    await expect(openBucket('of-the-tester', s3.guest)).rejects.toThrow(BlobsProblem);
  });

  it('removes uploads that never ended', async () => {
    const blobs = await openBucket('interrupted');
    const stuck = blobs.write(
      (async function* () {
        yield* inPieces(patterned(17 * MIB), MIB);
        await s3.kill();
        yield* inPieces(patterned(17 * MIB), MIB);
      })(),
    );
    await expect(stuck).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await s3.restart();
    expect(await blobs.tidy(new Date(Date.now() - 60_000))).toBe(0);
    expect(await blobs.tidy(new Date(Date.now() + 60_000))).toBe(1);
    expect(await Array.fromAsync(blobs.list())).toEqual([]);
  });

  it('cannot be used while it is away, and goes on by itself when it is back', async () => {
    const blobs = await openBucket('comes-and-goes');
    const { key } = await blobs.write([Buffer.from('hello')]);
    await s3.kill();
    const gone = { code: 'DEPENDENCY_UNAVAILABLE' };
    await expect(blobs.check()).rejects.toMatchObject(gone);
    await expect(blobs.write([Buffer.from('more')])).rejects.toMatchObject(gone);
    await expect(bytesOf(blobs, key)).rejects.toMatchObject(gone);
    await expect(blobs.sizeOf(key)).rejects.toMatchObject(gone);
    await expect(blobs.delete(key)).rejects.toMatchObject(gone);
    await expect(Array.fromAsync(blobs.list())).rejects.toMatchObject(gone);
    await s3.restart();
    await blobs.check();
    expect(String(await bytesOf(blobs, key))).toBe('hello');
  });

  it('may be opened before the store', async () => {
    await s3.kill();
    const blobs = await openBucket('opened-early');
    expect(errors).toHaveLength(1);
    await s3.restart();
    const { key } = await blobs.write([Buffer.from('hello')]);
    expect(String(await bytesOf(blobs, key))).toBe('hello');
  });

  it('gives up a read when the store goes in its middle', async () => {
    const blobs = await openBucket('cut');
    const { key } = await blobs.write(inPieces(patterned(40 * MIB), MIB));
    const reading = async () => {
      let first = true;
      for await (const _ of blobs.read(key)) {
        if (first) await s3.kill();
        first = false;
      }
    };
    await expect(reading()).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    await s3.restart();
    await until('it can be used again', () =>
      blobs.check().then(
        () => true,
        () => false,
      ),
    );
  });
});

describe('objects in a directory', () => {
  it('are refused with STORAGE_FULL when the disk is full, and are kept again when it is not', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ahs-test-full-'));
    try {
      const program = fileURLToPath(new URL('../lib/blobs/full.ts', import.meta.url));
      const script = 'mount -t tmpfs -o size=8m none "$1" && exec "$0" "$2" "$1"';
      const args = ['--mount', 'sh', '-c', script, process.execPath, directory, program];
      const { stdout } = await run('unshare', args);
      expect(JSON.parse(stdout)).toEqual({ code: 'STORAGE_FULL', left: [true], again: 'OK' });
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
