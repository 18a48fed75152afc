import { BlockList } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPublicAddress, readHostPattern } from '../../lib/hosts.ts';

/** Networks that are not public, each as a function from a number to one of its addresses. */
const INNER = new BlockList();
for (const [network, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  INNER.addSubnet(network, bits);
}

const dotted = (bytes: number[]) => bytes.join('.');
const byte = fc.integer({ min: 0, max: 255 });
const address = fc.tuple(byte, byte, byte, byte);
const inner = fc.oneof(
  fc.tuple(fc.constantFrom(0, 10, 127, 224, 239, 255), byte, byte, byte),
  fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
  fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
  fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
  fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
);

/** Alternative notations of an address that some parsers accept. */
function disguises([a, b, c, d]: [number, number, number, number]): string[] {
  const asNumber = ((a * 256 + b) * 256 + c) * 256 + d;
  const hex = (value: number) => value.toString(16);
  const octal = (value: number) => `0${value.toString(8)}`;
  const [high, low] = [hex(a * 256 + b), hex(c * 256 + d)];
  return [
    String(asNumber),
    `0x${hex(asNumber)}`,
    `0x${hex(a)}.0x${hex(b)}.0x${hex(c)}.0x${hex(d)}`,
    `0x${hex(a)}.${b}.${c}.${d}`,
    `${octal(a)}.${octal(b)}.${octal(c)}.${octal(d)}`,
    `${a}.${(b * 256 + c) * 256 + d}`,
    `${a}.${b}.${c * 256 + d}`,
    `[::ffff:${a}.${b}.${c}.${d}]`,
    `[::ffff:${high}:${low}]`,
    `[::${high}:${low}]`,
    `[64:ff9b::${high}:${low}]`,
    `[2002:${high}:${low}::]`,
  ];
}

describe('readHostPattern', () => {
  it('refuses an address of a non-public network in every notation', () => {
    fc.assert(
      fc.property(inner, (bytes) => {
        expect(INNER.check(dotted(bytes))).toBe(true);
        expect(isPublicAddress(dotted(bytes))).toBe(false);
        for (const text of [dotted(bytes), `${dotted(bytes)}:8080`, ...disguises(bytes)]) {
          expect(readHostPattern(text), text).toHaveProperty('problem');
        }
      }),
    );
  });

  it('accepts an address only in its canonical form', () => {
    fc.assert(
      fc.property(address, (bytes) => {
        const read = readHostPattern(dotted(bytes));
        if ('problem' in read) return;
        expect(INNER.check(dotted(bytes))).toBe(false);
        expect(read).toEqual({ host: dotted(bytes), matchesSubdomains: false, port: undefined });
      }),
    );
  });

  it('reads a host in the same way as a URL parser', () => {
    const label = fc.stringMatching(/^[a-zA-Z0-9_%-]{1,8}$/);
    const name = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
    const odd = fc.oneof(
      name,
      fc.string(),
      fc.string({ unit: 'grapheme' }),
      fc.ipV4(),
      fc.ipV6().map((ip) => `[${ip}]`),
    );
    fc.assert(
      fc.property(odd, fc.option(fc.integer({ min: 0, max: 70_000 })), (host, port) => {
        const text = port === null ? host : `${host}:${port}`;
        const read = readHostPattern(text);
        if ('problem' in read || read.matchesSubdomains) return;
        const url = new URL(`http://${text}`);
        expect(url.hostname.replace(/^\[|\]$/g, '')).toBe(read.host);
        if (read.port !== undefined) expect(Number(url.port || '80')).toBe(read.port);
        expect([url.username, url.pathname, url.search, url.hash]).toEqual(['', '/', '', '']);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    '169.254.169.254',
    '168.63.129.16',
    '::1',
    'fd00:ec2::254',
    '::ffff:8.8.8.8',
    'fe80::1',
    'nonsense',
    '',
  ])('isPublicAddress returns false for %s', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });

  it.each(['8.8.8.8', '2606:4700:4700::1111'])('isPublicAddress returns true for %s', (text) => {
    expect(isPublicAddress(text)).toBe(true);
  });
});
