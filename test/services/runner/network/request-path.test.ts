import { describe, expect, it } from 'vitest';
import { isBelowPrefix } from '../../../../services/runner/network/intercept/request-path.ts';

describe('isBelowPrefix', () => {
  it.each([
    '/repos/acme',
    '/repos/acme/',
    '/repos/acme/x',
    '/repos//acme/x',
    '/repos/./acme',
    '/repos/b/../acme/x',
    '/repos/%61cme/x',
    '/%72epos/acme',
  ])('accepts %s below /repos/acme', (path) =>
    expect(isBelowPrefix(path, ['/other', '/repos/acme'])).toBe(true),
  );

  it.each([
    '/',
    '/repos',
    '/repos/acme-evil',
    '/repos/acme/..',
    '/repos/acme/../other',
    '/repos/acme/%2e%2e/other',
    '/repos/acme/%2E./other',
    '/repos/acme//../../other',
    '/repos/acme//../x',
    '/repos/acme/..%2fother',
    '/repos%2Facme',
    '/repos/acme\\..\\other',
    '/repos/acme/%5c..',
    '/repos/acme/%252e%252e/other',
    '/repos/acme/..;/other',
    '/repos/acme/x%00',
    '/REPOS/acme',
  ])('refuses %s', (path) => expect(isBelowPrefix(path, ['/repos/acme'])).toBe(false));

  it('takes a prefix that ends in a slash like one without', () => {
    expect(isBelowPrefix('/v1/items', ['/v1/'])).toBe(true);
    expect(isBelowPrefix('/v10', ['/v1/'])).toBe(false);
    expect(isBelowPrefix('/anything', ['/'])).toBe(true);
  });
});
