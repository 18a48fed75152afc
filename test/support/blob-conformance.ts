import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BlobMissing, type Blobs, type ByteRange } from '../../lib/blobs/blobs.ts';

const MIB = 1024 * 1024;
const UNKNOWN_KEY = '0'.repeat(40);

export async function readAll(blobs: Blobs, key: string, range?: ByteRange): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(blobs.read(key, range)));
}

/** Pseudo-random bytes: the same for the same seed, and different at every position. */
export function patternBytes(size: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(size);
  let state = seed;
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** Yields the bytes in chunks of `size`. */
export async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) {
    yield bytes.subarray(from, from + size);
    await setImmediate();
  }
}

/** The conformance suite of Blobs: every implementation passes it. */
export function describeBlobStore(name: string, open: () => Promise<Blobs>): void {
  describe(name, () => {
    let blobs: Blobs;
    beforeAll(async () => {
      blobs = await open();
    });
    afterAll(() => blobs?.close());

    const keys = async (after?: string) => (await Array.fromAsync(blobs.list(after))).map(({ key }) => key);

    it.each([
      [0, 1],
      [1, 1],
      [100, 7],
      [MIB, 100_000],
      [8 * MIB, MIB],
      [8 * MIB + 1, 3 * MIB],
      [20 * MIB, 1_000_003],
    ])('returns %i bytes that were written in chunks of %i', async (size, chunkBytes) => {
      const bytes = patternBytes(size);
      const written = await blobs.write(chunksOf(bytes, chunkBytes));
      expect(written).toEqual({ key: expect.stringMatching(/^[0-9a-f]{40}$/), size });
      expect(await blobs.sizeOf(written.key)).toBe(size);
      const digest = createHash('sha256');
      for await (const part of blobs.read(written.key)) digest.update(part);
      expect(digest.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
    });

    it('returns any range', async () => {
      const bytes = patternBytes(3 * MIB);
      const { key } = await blobs.write([bytes]);
      const ranges = [
        { offset: 0, length: 1 },
        { offset: 1, length: 2 * MIB },
        { offset: 2 * MIB - 5, length: 10 },
        { offset: 3 * MIB - 1, length: 1 },
        { offset: MIB },
        { offset: 7, length: 0 },
      ];
      for (const { offset, length } of ranges) {
        const expected = bytes.subarray(offset, length === undefined ? undefined : offset + length);
        expect((await readAll(blobs, key, { offset, length })).equals(expected)).toBe(true);
      }
    });

    it('returns the available bytes for a range that reaches past the end', async () => {
      const { key } = await blobs.write([Buffer.from('hello')]);
      expect(String(await readAll(blobs, key, { offset: 3, length: 100 }))).toBe('lo');
    });

    it('writes equal bytes under different keys', async () => {
      const written = await Promise.all(
        Array.from({ length: 20 }, () => blobs.write([Buffer.from('the same')])),
      );
      expect(new Set(written.map(({ key }) => key)).size).toBe(20);
    });

    it('writes under the given key', async () => {
      const key = 'ab'.repeat(20);
      await blobs.write([Buffer.from('mine')], { key });
      expect(String(await readAll(blobs, key))).toBe('mine');
      await blobs.delete(key);
    });

    it('deletes an object, and does nothing for an unknown key', async () => {
      const { key } = await blobs.write([Buffer.from('hello')]);
      await blobs.delete(key);
      await blobs.delete(key);
      expect(await blobs.sizeOf(key)).toBeUndefined();
      await expect(readAll(blobs, key)).rejects.toThrow(BlobMissing);
    });

    it('returns no size and throws BlobMissing for an unknown key', async () => {
      expect(await blobs.sizeOf(UNKNOWN_KEY)).toBeUndefined();
      await expect(readAll(blobs, UNKNOWN_KEY)).rejects.toThrow(BlobMissing);
      await expect(readAll(blobs, UNKNOWN_KEY, { offset: 1, length: 2 })).rejects.toThrow(BlobMissing);
    });

    it.each(['', '..', '../../etc/passwd', 'A'.repeat(40), `${'a'.repeat(39)}/`])(
      'throws a TypeError for the malformed key %j',
      async (key) => {
        await expect(blobs.write([], { key })).rejects.toThrow(TypeError);
        await expect(readAll(blobs, key)).rejects.toThrow(TypeError);
        await expect(blobs.sizeOf(key)).rejects.toThrow(TypeError);
        await expect(blobs.delete(key)).rejects.toThrow(TypeError);
      },
    );

    it('lists all objects in the order of their keys, with size and time', async () => {
      const { key, size } = await blobs.write([patternBytes(1_000)]);
      const all = await Array.fromAsync(blobs.list());
      expect(all.map((blob) => blob.key)).toEqual(all.map((blob) => blob.key).sort());
      const found = all.find((blob) => blob.key === key);
      expect(found).toEqual({ key, size, writtenAt: expect.any(Date) });
      expect(Math.abs(Date.now() - (found?.writtenAt.getTime() ?? 0))).toBeLessThan(60_000);
      const later = await keys(key);
      expect(later).toEqual(all.map((blob) => blob.key).filter((other) => other > key));
    });

    it.each([100, 9 * MIB])(
      'stores nothing and throws the error of a source that fails after %i bytes',
      async (size) => {
        const before = await keys();
        const failure = new Error('the client is gone');
        const source = async function* () {
          yield* chunksOf(patternBytes(size), MIB);
          throw failure;
        };
        await expect(blobs.write(source())).rejects.toBe(failure);
        expect(await keys()).toEqual(before);
        expect(await blobs.deleteIncompleteWrites(new Date(Date.now() + 60_000))).toBe(0);
      },
    );

    it('stores nothing when the signal aborts', async () => {
      const before = await keys();
      const controller = new AbortController();
      const source = async function* () {
        yield patternBytes(9 * MIB);
        controller.abort();
        yield patternBytes(MIB);
      };
      const writing = blobs.write(source(), { signal: controller.signal });
      await expect(writing).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(await keys()).toEqual(before);
    });

    it('stops a read that its reader ends early or its signal aborts', async () => {
      const { key } = await blobs.write([patternBytes(9 * MIB)]);
      for (let time = 0; time < 20; time++) {
        for await (const part of blobs.read(key)) {
          expect(part.length).toBeGreaterThan(0);
          break;
        }
      }
      const controller = new AbortController();
      const reading = async () => {
        for await (const _ of blobs.read(key, { offset: 0 }, controller.signal)) controller.abort();
      };
      await expect(reading()).rejects.toMatchObject({ code: 'CANCELLED' });
    });

    it('keeps less than 100 MiB in memory while it writes 200 MiB', async () => {
      const chunk = patternBytes(MIB);
      const source = async function* () {
        for (let index = 0; index < 200; index++) yield chunk;
      };
      const before = process.memoryUsage().arrayBuffers;
      let peak = 0;
      const watch = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage().arrayBuffers - before);
      }, 5);
      const { key } = await blobs.write(source());
      clearInterval(watch);
      await blobs.delete(key);
      expect(peak).toBeLessThan(100 * MIB);
    });

    it('passes its check', () => blobs.check());
  });
}

/** A store whose writes can be made to fail. */
export interface FailingStore {
  blobs: Blobs;
  /** `full`: 507 or ENOSPC. `unsupported`: 501 or EOPNOTSUPP. undefined: writes succeed. */
  failWrites(reason: 'full' | 'unsupported' | undefined): void;
}

/** The part of the conformance suite for stores that refuse writes. */
export function describeFailingBlobStore(name: string, open: () => Promise<FailingStore>): void {
  describe(name, () => {
    let store: FailingStore;
    beforeAll(async () => {
      store = await open();
    });
    afterAll(() => store?.blobs.close());

    it.each([
      ['full', 'STORAGE_FULL'],
      ['unsupported', 'DEPENDENCY_UNAVAILABLE'],
    ] as const)(
      'refuses writes with the code of a store that is %s (%s), serves reads, and leaves nothing behind',
      async (reason, code) => {
        const { blobs, failWrites } = store;
        const { key } = await blobs.write([Buffer.from('kept')]);
        const before = (await Array.fromAsync(blobs.list())).map((blob) => blob.key);
        failWrites(reason);
        for (const bytes of [Buffer.from('small'), patternBytes(9 * MIB)])
          await expect(blobs.write(chunksOf(bytes, MIB))).rejects.toMatchObject({ code });
        await expect(blobs.check()).rejects.toMatchObject({ code });
        expect(String(await readAll(blobs, key))).toBe('kept');
        failWrites(undefined);
        await blobs.check();
        expect(await blobs.sizeOf((await blobs.write([Buffer.from('again')])).key)).toBe(5);
        const after = (await Array.fromAsync(blobs.list())).map((blob) => blob.key);
        expect(after.filter((one) => before.includes(one))).toEqual(before);
        expect(after).toHaveLength(before.length + 1);
        expect(await blobs.deleteIncompleteWrites(new Date(Date.now() + 60_000))).toBe(0);
      },
    );
  });
}
