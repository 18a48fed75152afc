import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BlobMissing, type Blobs, type Range } from '../../lib/blobs/blobs.ts';

const MIB = 1024 * 1024;
const NOBODYS = '0'.repeat(40);

export async function bytesOf(blobs: Blobs, key: string, range?: Range): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(blobs.read(key, range)));
}

/** Bytes that are everywhere different. */
export function patterned(size: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(size);
  let state = seed;
  for (let at = 0; at < size; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
}

/** A source that comes in pieces. */
export async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let from = 0; from < bytes.length; from += size) {
    yield bytes.subarray(from, from + size);
    await setImmediate();
  }
}

/** What every store of objects does. */
export function conforms(name: string, open: () => Promise<Blobs>): void {
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
    ])('gives back %i bytes that came %i at a time', async (size, piece) => {
      const bytes = patterned(size);
      const written = await blobs.write(inPieces(bytes, piece));
      expect(written).toEqual({ key: expect.stringMatching(/^[0-9a-f]{40}$/), size });
      expect(await blobs.sizeOf(written.key)).toBe(size);
      const digest = createHash('sha256');
      for await (const part of blobs.read(written.key)) digest.update(part);
      expect(digest.digest('hex')).toBe(createHash('sha256').update(bytes).digest('hex'));
    });

    it('gives back any part', async () => {
      const bytes = patterned(3 * MIB);
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
        expect((await bytesOf(blobs, key, { offset, length })).equals(expected)).toBe(true);
      }
    });

    it('gives back what there is when more is asked for', async () => {
      const { key } = await blobs.write([Buffer.from('hello')]);
      expect(String(await bytesOf(blobs, key, { offset: 3, length: 100 }))).toBe('lo');
    });

    it('never uses a key twice', async () => {
      const written = await Promise.all(
        Array.from({ length: 20 }, () => blobs.write([Buffer.from('the same')])),
      );
      expect(new Set(written.map(({ key }) => key)).size).toBe(20);
    });

    it('writes under a key that it is given', async () => {
      const key = 'ab'.repeat(20);
      await blobs.write([Buffer.from('mine')], { key });
      expect(String(await bytesOf(blobs, key))).toBe('mine');
      await blobs.delete(key);
    });

    it('deletes, and does not mind what is gone', async () => {
      const { key } = await blobs.write([Buffer.from('hello')]);
      await blobs.delete(key);
      await blobs.delete(key);
      expect(await blobs.sizeOf(key)).toBeUndefined();
      await expect(bytesOf(blobs, key)).rejects.toThrow(BlobMissing);
    });

    it('says so when there is no such object', async () => {
      expect(await blobs.sizeOf(NOBODYS)).toBeUndefined();
      await expect(bytesOf(blobs, NOBODYS)).rejects.toThrow(BlobMissing);
      await expect(bytesOf(blobs, NOBODYS, { offset: 1, length: 2 })).rejects.toThrow(BlobMissing);
    });

    it.each(['', '..', '../../etc/passwd', 'A'.repeat(40), `${'a'.repeat(39)}/`])(
      'takes no %j for a key',
      async (key) => {
        await expect(blobs.write([], { key })).rejects.toThrow(TypeError);
        await expect(bytesOf(blobs, key)).rejects.toThrow(TypeError);
        await expect(blobs.sizeOf(key)).rejects.toThrow(TypeError);
        await expect(blobs.delete(key)).rejects.toThrow(TypeError);
      },
    );

    it('lists what it holds, in order, with size and age', async () => {
      const { key, size } = await blobs.write([patterned(1_000)]);
      const all = await Array.fromAsync(blobs.list());
      expect(all.map((one) => one.key)).toEqual(all.map((one) => one.key).sort());
      const found = all.find((one) => one.key === key);
      expect(found).toEqual({ key, size, writtenAt: expect.any(Date) });
      expect(Math.abs(Date.now() - (found?.writtenAt.getTime() ?? 0))).toBeLessThan(60_000);
      const later = await keys(key);
      expect(later).toEqual(all.map((one) => one.key).filter((one) => one > key));
    });

    it.each([100, 9 * MIB])(
      'keeps nothing of a source that fails after %i bytes, and passes that on',
      async (size) => {
        const before = await keys();
        const mistake = new Error('the client is gone');
        const source = async function* () {
          yield* inPieces(patterned(size), MIB);
          throw mistake;
        };
        await expect(blobs.write(source())).rejects.toBe(mistake);
        expect(await keys()).toEqual(before);
        expect(await blobs.tidy(new Date(Date.now() + 60_000))).toBe(0);
      },
    );

    it('keeps nothing when the signal aborts', async () => {
      const before = await keys();
      const controller = new AbortController();
      const source = async function* () {
        yield patterned(9 * MIB);
        controller.abort();
        yield patterned(MIB);
      };
      const writing = blobs.write(source(), { signal: controller.signal });
      await expect(writing).rejects.toMatchObject({ code: 'CANCELLED' });
      expect(await keys()).toEqual(before);
    });

    it('lets readers leave early', async () => {
      const { key } = await blobs.write([patterned(9 * MIB)]);
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

    it('holds only a little of what goes through it', async () => {
      const piece = patterned(MIB);
      const source = async function* () {
        for (let index = 0; index < 200; index++) yield piece;
      };
      const before = process.memoryUsage().arrayBuffers;
      let most = 0;
      const watch = setInterval(() => {
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      }, 5);
      const { key } = await blobs.write(source());
      clearInterval(watch);
      await blobs.delete(key);
      expect(most).toBeLessThan(100 * MIB);
    });

    it('can be used', () => blobs.check());
  });
}
