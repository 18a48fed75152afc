import { describe, expect, it } from 'vitest';
import { tryServer } from '../../../lib/db/probe.ts';

describe('a server that was named', () => {
  it.each([
    ['at a socket that is not there', 'postgres:///postgres?host=/no/such', 'cannot be reached', 'start'],
    [
      'with a certificate that is not there',
      'postgres://127.0.0.1:1/x?sslrootcert=/no/such',
      'certificate',
      'sslrootcert=',
    ],
    ['at a port where nobody listens', 'postgres://127.0.0.1:1/x', 'cannot be reached', 'start'],
  ])('%s is told apart', async (_, url, problem, fix) => {
    const found = await tryServer(url);
    expect(found?.problem).toContain(problem);
    expect(found?.fix).toContain(fix);
  });
});
