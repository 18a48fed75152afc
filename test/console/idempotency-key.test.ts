import { describe, expect, it } from 'vitest';
import { openKeys } from '../../console/parts/actions/idempotency-key.ts';

describe('idempotency keys', () => {
  it('are reused for a retry with equal content', () => {
    const { keyFor } = openKeys();
    const key = keyFor({ content: 'Hello', busyPolicy: 'enqueue' });
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(keyFor({ content: 'Hello', busyPolicy: 'enqueue' })).toBe(key);
    expect(openKeys().keyFor({ content: 'Hello', busyPolicy: 'enqueue' })).not.toBe(key);
  });

  it('differ for requests with different content', () => {
    const { keyFor } = openKeys();
    const requests = [
      { content: 'Hello', busyPolicy: 'enqueue' },
      { content: 'Hello', busyPolicy: 'interrupt' },
      undefined,
    ];
    expect(new Set(requests.map(keyFor)).size).toBe(3);
  });

  it('differ for equal content after a successful request', () => {
    const { keyFor, renew } = openKeys();
    const key = keyFor('Hello');
    renew();
    expect(keyFor('Hello')).not.toBe(key);
  });
});
