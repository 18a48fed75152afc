import { describe, expect, it } from 'vitest';
import { createCache } from '../../lib/cache.ts';
import { createFakeClock } from '../support/clock.ts';

const MAX_AGE_MS = 1_000;

/** A source whose answers are held back until they are let go. */
function createSource() {
  const asked: PromiseWithResolvers<string>[] = [];
  return {
    asked,
    load: () => {
      const answer = Promise.withResolvers<string>();
      asked.push(answer);
      return answer.promise;
    },
  };
}

describe('createCache', () => {
  it('shares a load among all who ask for it, and keeps what it gave', async () => {
    const cache = createCache<string>(createFakeClock(), MAX_AGE_MS);
    const source = createSource();
    const values = [cache.get('a', source.load), cache.get('a', source.load)];
    source.asked[0]?.resolve('one');
    expect(await Promise.all([...values, cache.get('a', source.load)])).toEqual(['one', 'one', 'one']);
    expect(source.asked).toHaveLength(1);
  });

  it('counts the age from the beginning of the load', async () => {
    const clock = createFakeClock();
    const cache = createCache<string>(clock, MAX_AGE_MS);
    const source = createSource();
    const first = cache.get('a', source.load);
    clock.advance(600);
    source.asked[0]?.resolve('old');
    expect(await first).toBe('old');
    clock.advance(399);
    expect(await cache.get('a', source.load)).toBe('old');
    clock.advance(1);
    const second = cache.get('a', source.load);
    source.asked[1]?.resolve('new');
    expect(await second).toBe('new');
  });

  it('does not keep a load that began before a drop, whichever ends first', async () => {
    for (const order of [
      [0, 1],
      [1, 0],
    ]) {
      const cache = createCache<string>(createFakeClock(), MAX_AGE_MS);
      const source = createSource();
      const before = cache.get('a', source.load);
      cache.drop('a');
      const after = cache.get('a', source.load);
      for (const index of order) source.asked[index]?.resolve(['old', 'new'][index]!);
      expect(await before).toBe('old');
      expect(await after).toBe('new');
      expect(await cache.get('a', source.load)).toBe('new');
      expect(source.asked).toHaveLength(2);
    }
  });

  it('does not keep a failure, nor let a late one take away what came after it', async () => {
    const cache = createCache<string>(createFakeClock(), MAX_AGE_MS);
    const source = createSource();
    const before = cache.get('a', source.load);
    cache.drop('a');
    const after = cache.get('a', source.load);
    source.asked[1]?.resolve('new');
    await after;
    source.asked[0]?.reject(new Error('away'));
    await expect(before).rejects.toThrow('away');
    expect(await cache.get('a', source.load)).toBe('new');
    const failing = cache.get('b', source.load);
    source.asked[2]?.reject(new Error('away'));
    await expect(failing).rejects.toThrow('away');
    void cache.get('b', source.load);
    expect(source.asked).toHaveLength(4);
  });

  it('trusts nothing that was loaded later than now', async () => {
    const clock = createFakeClock();
    let setBackMs = 0;
    const now = () => new Date(clock.now().getTime() - setBackMs);
    const cache = createCache<string>({ ...clock, now }, MAX_AGE_MS);
    await cache.get('a', async () => 'old');
    setBackMs = 60_000;
    expect(await cache.get('a', async () => 'new')).toBe('new');
  });

  it('holds no more entries than it may', async () => {
    const cache = createCache<string>(createFakeClock(), MAX_AGE_MS, 3);
    let loads = 0;
    const ask = (key: string) =>
      cache.get(key, async () => {
        loads++;
        return key;
      });
    for (const key of ['a', 'b', 'c', 'd', 'd', 'a']) await ask(key);
    expect(loads).toBe(5);
  });
});
