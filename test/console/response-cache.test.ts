import { describe, expect, it } from 'vitest';
import { ResponseCache } from '../../console/api/response-cache.ts';

describe('ResponseCache', () => {
  it('returns the newest response of a URL', () => {
    const cache = new ResponseCache();
    cache.store('/a', { etag: 'W/"1"', body: 'one' });
    cache.store('/a', { etag: 'W/"2"', body: 'two' });
    expect(cache.find('/a')).toEqual({ etag: 'W/"2"', body: 'two' });
    expect(cache.find('/b')).toBeUndefined();
  });

  it('drops the least recently used responses beyond its limit', () => {
    const cache = new ResponseCache(10);
    cache.store('/a', { etag: '', body: 'x'.repeat(5) });
    cache.store('/b', { etag: '', body: 'x'.repeat(5) });
    cache.find('/a');
    cache.store('/c', { etag: '', body: 'x'.repeat(5) });
    expect(['/a', '/b', '/c'].map((url) => cache.find(url) !== undefined)).toEqual([true, false, true]);
  });

  it('counts a replaced response once', () => {
    const cache = new ResponseCache(10);
    for (let round = 0; round < 5; round++) cache.store('/a', { etag: '', body: 'x'.repeat(5) });
    cache.store('/b', { etag: '', body: 'x'.repeat(5) });
    expect(cache.find('/a')).toBeDefined();
  });

  it('does not keep a response beyond its limit, and keeps the others', () => {
    const cache = new ResponseCache(10);
    cache.store('/a', { etag: '', body: 'x'.repeat(5) });
    cache.store('/b', { etag: '', body: 'x'.repeat(5) });
    cache.store('/b', { etag: '', body: 'x'.repeat(11) });
    expect(['/a', '/b'].map((url) => cache.find(url) !== undefined)).toEqual([true, false]);
  });
});
