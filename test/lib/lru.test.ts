import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LruCache } from '../../lib/lru.ts';

describe('LruCache', () => {
  it('evicts the least recently used entry when a new one exceeds the maximum', () => {
    const cache = new LruCache<string, number>(2);
    cache.set('a', 1);
    cache.set('b', 2);
    cache.set('c', 3);
    expect([cache.has('a'), cache.get('b'), cache.get('c'), cache.size]).toEqual([false, 2, 3, 2]);
  });

  it('counts get and set as use, and has and peek not', () => {
    const cache = new LruCache<string, number>(3);
    for (const key of ['a', 'b', 'c']) cache.set(key, 0);
    cache.get('a');
    cache.set('b', 1);
    expect([cache.has('c'), cache.peek('c')]).toEqual([true, 0]);
    cache.set('d', 0);
    expect(cache.has('c')).toBe(false);
    cache.set('e', 0);
    expect(cache.has('a')).toBe(false);
    expect(cache.peek('b')).toBe(1);
  });

  it('returns undefined for a key that is absent, deleted or cleared', () => {
    const cache = new LruCache<string, number>(2);
    cache.set('a', 1);
    expect([cache.delete('a'), cache.delete('a'), cache.get('a')]).toEqual([true, false, undefined]);
    cache.set('b', 2);
    cache.clear();
    expect([cache.get('b'), cache.size]).toEqual([undefined, 0]);
    cache.set('c', 3);
    expect(cache.get('c')).toBe(3);
  });

  it('refuses a maximum below one entry', () => {
    expect(() => new LruCache(0)).toThrow(RangeError);
    expect(() => new LruCache(Number.NaN)).toThrow(RangeError);
  });

  it('behaves like a list ordered by use, for any sequence of operations', () => {
    const operation = fc.tuple(fc.constantFrom('get', 'set', 'delete'), fc.integer({ min: 0, max: 6 }));
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 4 }),
        fc.array(operation, { maxLength: 60 }),
        (max, operations) => {
          const cache = new LruCache<number, number>(max);
          let model: [key: number, value: number][] = [];
          operations.forEach(([name, key], index) => {
            const present = model.find(([one]) => one === key);
            const others = model.filter(([one]) => one !== key);
            if (name === 'get') {
              expect(cache.get(key)).toBe(present?.[1]);
              if (present) model = [...others, present];
            } else if (name === 'set') {
              cache.set(key, index);
              model = [...others, [key, index] as [number, number]].slice(-max);
            } else {
              expect(cache.delete(key)).toBe(present !== undefined);
              model = others;
            }
            expect(cache.size).toBe(model.length);
            for (const [one, value] of model) expect(cache.peek(one)).toBe(value);
          });
        },
      ),
    );
  });
});
