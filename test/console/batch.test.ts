import { describe, expect, it } from 'vitest';
import { createBatch } from '../../console/api/batch.ts';

describe('createBatch', () => {
  function createLoader(maxKeys = 100) {
    const requests: string[][] = [];
    const load = createBatch(
      async (keys) => {
        requests.push(keys);
        if (keys.includes('broken')) throw new Error('refused');
        return new Map(keys.filter((key) => key !== 'unknown').map((key) => [key, key.toUpperCase()]));
      },
      { maxKeys, delayMs: 1 },
    );
    return { requests, load };
  }

  it('loads the keys of the same moment together and each key once', async () => {
    const { requests, load } = createLoader();
    expect(await Promise.all(['a', 'b', 'a', 'unknown'].map(load))).toEqual(['A', 'B', 'A', undefined]);
    expect(await load('c')).toBe('C');
    expect(requests).toEqual([['a', 'b', 'unknown'], ['c']]);
  });

  it('requests at most the maximum number of keys at a time', async () => {
    const { requests, load } = createLoader(2);
    await Promise.all(['a', 'b', 'c'].map(load));
    expect(requests).toEqual([['a', 'b'], ['c']]);
  });

  it('rejects all callers of a failed request and loads later keys', async () => {
    const { load } = createLoader();
    const results = await Promise.allSettled(['a', 'broken'].map(load));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await load('a')).toBe('A');
  });
});
