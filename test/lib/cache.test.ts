import { describe, expect, it } from 'vitest';
import { createCache } from '../../lib/cache.ts';
import { createFakeClock } from '../support/clock.ts';

const MAX_AGE_MS = 1_000;

/** A source whose loads complete on request. */
function createSource() {
  const pendingLoads: PromiseWithResolvers<string>[] = [];
  return {
    pendingLoads,
    load: () => {
      const answer = Promise.withResolvers<string>();
      pendingLoads.push(answer);
      return answer.promise;
    },
  };
}

describe('createCache', () => {
  it('shares one load between concurrent callers and caches its value', async () => {
    const cache = createCache<string>(createFakeClock(), MAX_AGE_MS);
    const source = createSource();
    const values = [cache.get('a', source.load), cache.get('a', source.load)];
    source.pendingLoads[0]?.resolve('one');
    expect(await Promise.all([...values, cache.get('a', source.load)])).toEqual(['one', 'one', 'one']);
    expect(source.pendingLoads).toHaveLength(1);
  });

  it('counts the age of an entry from the start of its load', async () => {
    const clock = createFakeClock();
    const cache = createCache<string>(clock, MAX_AGE_MS);
    const source = createSource();
    const first = cache.get('a', source.load);
    clock.advance(600);
    source.pendingLoads[0]?.resolve('old');
    expect(await first).toBe('old');
    clock.advance(399);
    expect(await cache.get('a', source.load)).toBe('old');
    clock.advance(1);
    const second = cache.get('a', source.load);
    source.pendingLoads[1]?.resolve('new');
    expect(await second).toBe('new');
  });

  it('does not cache a load that started before a drop', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const cache = createCache<string>(createFakeClock(), MAX_AGE_MS);
      const source = createSource();
      const before = cache.get('a', source.load);
      cache.drop('a');
      const after = cache.get('a', source.load);
      for (const index of order) source.pendingLoads[index]?.resolve(['old', 'new'][index]!);
      expect(await before).toBe('old');
      expect(await after).toBe('new');
      expect(await cache.get('a', source.load)).toBe('new');
      expect(source.pendingLoads).toHaveLength(2);
    }
  });

  it('does not cache a failed load, and a late failure keeps the newer entry', async () => {
    const cache = createCache<string>(createFakeClock(), MAX_AGE_MS);
    const source = createSource();
    const before = cache.get('a', source.load);
    cache.drop('a');
    const after = cache.get('a', source.load);
    source.pendingLoads[1]?.resolve('new');
    await after;
    source.pendingLoads[0]?.reject(new Error('away'));
    await expect(before).rejects.toThrow('away');
    expect(await cache.get('a', source.load)).toBe('new');
    const failing = cache.get('b', source.load);
    source.pendingLoads[2]?.reject(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    void cache.get('b', source.load);
    expect(source.pendingLoads).toHaveLength(4);
  });

  it('loads again when the clock was set back', async () => {
    const clock = createFakeClock();
    let setBackMs = 0;
    const now = () => new Date(clock.now().getTime() - setBackMs);
    const cache = createCache<string>({ ...clock, now }, MAX_AGE_MS);
    await cache.get('a', async () => 'old');
    setBackMs = 60_000;
    expect(await cache.get('a', async () => 'new')).toBe('new');
  });

  it('holds at most the maximum number of entries', async () => {
    const cache = createCache<string>(createFakeClock(), MAX_AGE_MS, 3);
    let loads = 0;
    const get = (key: string) =>
      cache.get(key, async () => {
        loads++;
        return key;
      });
    for (const key of ['a', 'b', 'c', 'd', 'd', 'a']) await get(key);
    expect(loads).toBe(5);
  });
});
