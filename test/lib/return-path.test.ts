import { describe, expect, it } from 'vitest';
import { checkReturnPath } from '../../lib/return-path.ts';

describe('checkReturnPath', () => {
  it.each([
    '/',
    '/sessions/ses_1?tab=files#top',
    '/a%20b',
    "/a'b(c)*!~",
    '/?next=https://elsewhere.example.com',
  ])('returns %s', (path) => {
    expect(checkReturnPath(path)).toBe(path);
  });

  it.each([
    '',
    'sessions',
    '//elsewhere.example.com',
    '/\\elsewhere.example.com',
    '\\\\elsewhere.example.com',
    '/a\\..\\..\\/elsewhere.example.com',
    '/\t/elsewhere.example.com',
    '/\n/elsewhere.example.com',
    '\t//elsewhere.example.com',
    '/..//elsewhere.example.com',
    '/a/..//elsewhere.example.com',
    '/%2e%2e//elsewhere.example.com',
    'https://elsewhere.example.com',
    'https:elsewhere.example.com',
    'javascript:alert(1)',
    '/sessions\r\nSet-Cookie: a=b',
    '/ü',
    '/a b',
    '/\ud800',
    '/api/v1/auth/login?return_to=/',
    '/x/../api/v1/auth/logout',
    `/${'a'.repeat(2_048)}`,
  ])('returns / for %j', (text) => {
    expect(checkReturnPath(text)).toBe('/');
  });
});
