import { describe, expect, it } from 'vitest';
import { Semaphore } from '../../lib/semaphore.ts';

describe('Semaphore', () => {
  it('refuses the operation after 1,000 waiting ones, runs these, and drops those whose caller has left', async () => {
    const semaphore = new Semaphore(1);
    const gate = Promise.withResolvers<void>();
    const leaving = new AbortController();
    let runs = 0;
    const count = async () => void runs++;
    const first = semaphore.run(() => gate.promise);
    const dropped = expect(semaphore.run(count, { signal: leaving.signal })).rejects.toMatchObject({
      code: 'CANCELLED',
    });
    const waiting = Array.from({ length: 999 }, () => semaphore.run(count));
    await expect(semaphore.run(count)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    const always = semaphore.run(count, { always: true });
    leaving.abort();
    gate.resolve();
    await Promise.all([first, dropped, always, ...waiting]);
    expect(runs).toBe(1_000);
    await semaphore.run(count);
    expect(runs).toBe(1_001);
  });
});
