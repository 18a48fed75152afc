import { describe, expect, it } from 'vitest';
import { openKeys } from '../../console/parts/acts/idempotency-key.ts';

describe('the keys of requests', () => {
  it('are the same for another attempt at the same', () => {
    const { keyFor } = openKeys();
    const key = keyFor({ content: 'Hello', busyPolicy: 'enqueue' });
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(keyFor({ content: 'Hello', busyPolicy: 'enqueue' })).toBe(key);
    expect(openKeys().keyFor({ content: 'Hello', busyPolicy: 'enqueue' })).not.toBe(key);
  });

  it('are others for something else, whatever of it is other', () => {
    const { keyFor } = openKeys();
    const asked = [
      { content: 'Hello', busyPolicy: 'enqueue' },
      { content: 'Hello', busyPolicy: 'interrupt' },
      undefined,
    ];
    expect(new Set(asked.map(keyFor)).size).toBe(3);
  });

  it('are others for the same once it was done', () => {
    const { keyFor, renew } = openKeys();
    const key = keyFor('Hello');
    renew();
    expect(keyFor('Hello')).not.toBe(key);
  });
});
