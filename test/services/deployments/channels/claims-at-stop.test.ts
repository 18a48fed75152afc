import { describe, expect, it } from 'vitest';
import { openWorkSystem } from './work-fixtures.ts';

describe('ClaimWork RPC when deployments stops', () => {
  it('ends waiting claims before the database is closed', async () => {
    const codes: unknown[] = [];
    await using system = await openWorkSystem({
      observe: ({ method, code }) => {
        if (method === 'ClaimWork' || method === 'claimWork') codes.push(code);
      },
    });
    const { worker } = system;
    const claims = Array.from({ length: 12 }, () => worker.claim({ waitMs: 30_000 }).catch(() => undefined));
    // A later call over the same connection has been answered, so the claims have begun.
    await worker.renew();
    await system.stop();
    await Promise.all(claims);
    expect(codes).toHaveLength(12);
    expect(new Set(codes)).toEqual(new Set(['OK']));
  });
});
