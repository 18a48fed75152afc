import { describe, expect, it } from 'vitest';
import { parsePrivateHosts } from '../../../lib/outbound/private-hosts.ts';

describe('parsePrivateHosts', () => {
  it('reads names and addresses with and without ports', () => {
    expect(parsePrivateHosts('mcp.internal, LOCALHOST:8080,10.0.0.1,[FD00::0001]:443')).toEqual([
      { host: 'mcp.internal', port: undefined },
      { host: 'localhost', port: 8080 },
      { host: '10.0.0.1', port: undefined },
      { host: 'fd00::1', port: 443 },
    ]);
  });

  it.each([
    'http://mcp.internal',
    'mcp.internal/path',
    '*.internal',
    'user@mcp.internal',
    'a b',
    '10.1',
    'mcp.internal:0',
    'mcp.internal:65536',
    '93.184.216.34',
    '169.254.169.254',
    '[::]',
    '0.0.0.0',
  ])('refuses %s', (text) => {
    expect(() => parsePrivateHosts(text)).toThrow(/^has an entry/);
  });
});
