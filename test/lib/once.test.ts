import { describe, expect, it } from 'vitest';
import { once } from '../../lib/once.ts';

describe('once', () => {
  it('loads with the first call, and once for all calls', async () => {
    let loads = 0;
    const load = once(async () => ({ load: ++loads }));
    expect(loads).toBe(0);
    expect(await Promise.all([load(), load()])).toEqual([{ load: 1 }, { load: 1 }]);
    expect(await load()).toEqual({ load: 1 });
  });

  it('loads again after a failure', async () => {
    let loads = 0;
    const load = once(async () => {
      if (++loads === 1) throw new Error('too many open files');
      return { load: loads };
    });
    await expect(load()).rejects.toThrow('too many open files');
    expect(await load()).toEqual({ load: 2 });
  });
});
