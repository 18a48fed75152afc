import { afterEach, describe, expect, it, vi } from 'vitest';
import { DataKey } from '../../../../services/vaults/keys/data-key.ts';
import { DataKeyCache } from '../../../../services/vaults/keys/data-key-cache.ts';
import { createFakeClock } from '../../../support/clock.ts';

const CONTEXT = { vaultId: 'vlt_1', generation: 1 };
const DESTROYED = 'a data key was used after it was destroyed';

/** A cache whose loads are counted, and the keys that it has loaded. */
function open() {
  const clock = createFakeClock();
  const cache = new DataKeyCache(clock);
  const loaded: DataKey[] = [];
  const load = async () => {
    const key = DataKey.create();
    loaded.push(key);
    return key;
  };
  const use = (id: string) => cache.use(id, load, () => undefined);
  const isDestroyed = (key: DataKey | undefined) => {
    try {
      key?.encode(CONTEXT);
      return false;
    } catch (error) {
      return error instanceof Error && error.message === DESTROYED;
    }
  };
  return { cache, clock, loaded, use, isDestroyed };
}

describe('DataKeyCache', () => {
  it('keeps a key for less than 5 minutes, then destroys it', async () => {
    const { clock, loaded, use, isDestroyed } = open();
    await use('a');
    clock.advance(299_999);
    await use('a');
    expect(loaded).toHaveLength(1);
    expect(isDestroyed(loaded[0])).toBe(false);
    clock.advance(1);
    await expect.poll(() => isDestroyed(loaded[0])).toBe(true);
    await use('a');
    expect(loaded).toHaveLength(2);
    expect(clock.pending).toBe(1);
  });

  it('keeps the 1,000 most recently used keys and destroys others', async () => {
    const { loaded, use, isDestroyed } = open();
    for (let index = 0; index < 1_000; index++) await use(`key ${index}`);
    await use('key 0');
    await use('one more');
    await expect.poll(() => isDestroyed(loaded[1])).toBe(true);
    expect(loaded.filter(isDestroyed)).toEqual([loaded[1]]);
    await use('key 0');
    expect(loaded).toHaveLength(1_001);
  });

  it('destroys a dropped key only after its last use', async () => {
    const { cache, clock, loaded, isDestroyed } = open();
    const gate = Promise.withResolvers<DataKey>();
    const uses = [1, 2].map(() =>
      cache.use(
        'a',
        () => gate.promise,
        (key) => key.encode(CONTEXT).length,
      ),
    );
    clock.advance(300_000);
    const key = DataKey.create();
    loaded.push(key);
    gate.resolve(key);
    expect(await Promise.all(uses)).toEqual([97, 97]);
    await expect.poll(() => isDestroyed(key)).toBe(true);
  });

  it('loads once for concurrent uses, and again after a failure', async () => {
    const { cache, loaded, use } = open();
    const failing = vi.fn(async () => {
      throw new Error('no KMS');
    });
    const attempts = [1, 2, 3].map(() => cache.use('a', failing, () => undefined));
    expect((await Promise.allSettled(attempts)).map(({ status }) => status)).toEqual(
      Array(3).fill('rejected'),
    );
    expect(failing).toHaveBeenCalledTimes(1);
    await Promise.all([use('a'), use('a')]);
    expect(loaded).toHaveLength(1);
  });

  it('destroys all keys when it is cleared', async () => {
    const { cache, clock, loaded, use, isDestroyed } = open();
    await use('a');
    await use('b');
    cache.clear();
    await expect.poll(() => loaded.every(isDestroyed)).toBe(true);
    expect(clock.pending).toBe(0);
  });
});

describe('DataKey', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('overwrites its bytes with zeros when it is destroyed', () => {
    const allocate = vi.spyOn(Buffer, 'alloc');
    const key = DataKey.create();
    const buffers = allocate.mock.results.map(({ value }) => value as Buffer);
    expect(buffers.map((buffer) => buffer.length)).toEqual([32, 32]);
    expect(buffers.some((buffer) => buffer.every((byte) => byte === 0))).toBe(false);
    key.destroy();
    expect(buffers.every((buffer) => buffer.every((byte) => byte === 0))).toBe(true);
    for (const use of [
      () => key.encrypt(Buffer.of(1), ''),
      () => key.mac('a', 'b'),
      () => DataKey.create(key),
    ])
      expect(use).toThrow(DESTROYED);
  });

  it('overwrites the plaintext from which it was decoded, also a wrong one', () => {
    const plaintext = DataKey.create().encode(CONTEXT);
    const copies = [Buffer.from(plaintext), Buffer.from(plaintext)];
    DataKey.decode(copies[0]!, CONTEXT);
    expect(() => DataKey.decode(copies[1]!, { ...CONTEXT, generation: 2 })).toThrow(
      'another vault or generation',
    );
    for (const copy of copies) expect(copy.every((byte) => byte === 0)).toBe(true);
  });

  it.each([0, 1, 96, 98])('does not decode %i bytes', (length) => {
    const plaintext = Buffer.concat([DataKey.create().encode(CONTEXT), Buffer.of(0)]);
    expect(() => DataKey.decode(plaintext.subarray(0, length), CONTEXT)).toThrow('damaged');
  });
});
