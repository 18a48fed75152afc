import { describe, expect, it } from 'vitest';
import {
  formatHostAddress,
  formatHostPattern,
  matchesAnyHost,
  patternsFor,
  readHostAddress,
} from '../../lib/host-patterns.ts';
import { readHostPattern } from '../../lib/hosts.ts';

describe('readHostAddress', () => {
  it.each([
    ['API.Example.org', 'api.example.org', 443],
    ['api.example.org:443', 'api.example.org', 443],
    ['api.example.org:8443', 'api.example.org:8443', 8443],
    ['[2606:4700:0:0::1111]', '[2606:4700::1111]', 443],
  ])('reads %s as %s', (text, canonical, port) => {
    const address = readHostAddress(text);
    expect(address?.port).toBe(port);
    expect(address && formatHostAddress(address)).toBe(canonical);
  });

  it.each(['', '*.example.org', 'localhost', '10.0.0.1', 'a b', 'example.org:0'])('refuses %j', (text) => {
    expect(readHostAddress(text)).toBeUndefined();
  });
});

describe('patternsFor', () => {
  it.each(['a.b.example.org', 'a.b.example.org:8443', '[2606:4700::1111]', 'example.org:80'])(
    'returns exactly the patterns that match %s, the most precise first',
    (text) => {
      const address = readHostAddress(text);
      if (!address) throw new Error('the host is malformed');
      const patterns = patternsFor(address);
      expect(patterns.map(({ rank }) => rank)).toEqual(patterns.map(({ rank }) => rank).toSorted());
      const names = [
        'a.b.example.org',
        '*.b.example.org',
        '*.example.org',
        '[2606:4700::1111]',
        'example.org',
      ];
      const candidates = names.flatMap((name) => ['', ':80', ':443', ':8443'].map((port) => name + port));
      const texts = new Set(patterns.map((pattern) => pattern.text));
      for (const candidate of candidates)
        expect(texts.has(candidate), candidate).toBe(matchesAnyHost([candidate], address));
    },
  );
});

describe('formatHostPattern', () => {
  it.each(['*.example.org:8443', 'example.org', '[2606:4700::1111]:443'])('keeps %s', (text) => {
    const pattern = readHostPattern(text);
    expect('problem' in pattern ? pattern : formatHostPattern(pattern)).toBe(text);
  });
});
