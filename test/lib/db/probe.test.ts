import { describe, expect, it } from 'vitest';
import { probeServer } from '../../../lib/db/probe.ts';

describe('probeServer', () => {
  it.each([
    ['a missing socket', 'postgres:///postgres?host=/no/such', 'cannot be reached', 'start'],
    [
      'a missing certificate file',
      'postgres://127.0.0.1:1/x?sslrootcert=/no/such',
      'certificate',
      'sslrootcert=',
    ],
    ['a port without a listener', 'postgres://127.0.0.1:1/x', 'cannot be reached', 'start'],
  ])('reports %s', async (_, url, problem, fix) => {
    const found = await probeServer(url);
    expect(found?.problem).toContain(problem);
    expect(found?.fix).toContain(fix);
  });
});
