import { describe, expect, it } from 'vitest';
import { Secret } from '../../../../lib/secret.ts';
import { echoPatterns } from '../../../../services/runner/network/intercept/echo-patterns.ts';
import {
  EchoFound,
  EchoScanner,
  scanText,
} from '../../../../services/runner/network/intercept/echo-scanner.ts';

const VALUE = 'canary/+"äé\\ 0123456789';
const base64 = (text: string) => Buffer.from(text).toString('base64');

/** Returns the bytes that were passed on, and whether a pattern was found. */
function scan(secret: string, chunks: readonly Buffer[]) {
  const scanner = new EchoScanner(
    echoPatterns({ credentialId: 'crd_1', host: 'a.test' }, new Secret(secret)),
  );
  const passed: Buffer[] = [];
  try {
    for (const chunk of chunks) passed.push(Buffer.from(scanner.push(chunk)));
    passed.push(scanner.end());
    return { text: Buffer.concat(passed).toString(), found: false };
  } catch (error) {
    expect(error).toBeInstanceOf(EchoFound);
    return { text: Buffer.concat(passed).toString(), found: true };
  }
}

function chunksOf(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  );
}

describe('EchoScanner', () => {
  it.each([
    ['plain', VALUE],
    ['percent-encoded', encodeURIComponent(VALUE)],
    [
      'percent-encoded in lower case',
      encodeURIComponent(VALUE).replace(/%../g, (code) => code.toLowerCase()),
    ],
    ['form-encoded', encodeURIComponent(VALUE).replaceAll('%20', '+')],
    ['as JSON text', JSON.stringify(VALUE).slice(1, -1)],
    ['as JSON text with escaped slashes', JSON.stringify(VALUE).slice(1, -1).replaceAll('/', '\\/')],
    ['base64', base64(VALUE)],
    ['base64 after one byte', base64(`x${VALUE}y`)],
    ['base64 after two bytes', base64(`xy${VALUE}z`)],
    ['base64url', Buffer.from(`xyz${VALUE}`).toString('base64url')],
  ])('finds a secret %s at every chunk size, before any part of it has passed', (_, echo) => {
    for (let size = 1; size <= echo.length + 8; size++) {
      const { text, found } = scan(VALUE, chunksOf(`before ${echo} after`, size));
      expect([size, found]).toEqual([size, true]);
      expect('before '.startsWith(text) || text.startsWith('before ')).toBe(true);
      // At most the characters that also depend on other bytes than the secret.
      expect(text.length).toBeLessThanOrEqual('before '.length + 4);
    }
  });

  it('passes everything else on unchanged, also repeated beginnings of a secret', () => {
    const text = `${'canary/'.repeat(40)}${VALUE.slice(0, -1)}${VALUE.slice(0, -1)}canary`;
    for (const size of [1, 2, 3, 7, 64, 1_000])
      expect(scan(VALUE, chunksOf(text, size))).toEqual({ text, found: false });
  });

  it('finds a secret whose beginning repeats', () => {
    expect(scan('aaaaaaaab', chunksOf(`${'a'.repeat(20)}b`, 1)).found).toBe(true);
    expect(scan('abababababc', chunksOf('abababababababc', 2)).found).toBe(true);
  });

  it('finds the parts of header values that are secret', () => {
    const basic = `Basic ${base64('user:a-long-password')}`;
    for (const [header, echo] of [
      ['Bearer token-0123456789', 'token-0123456789'],
      [basic, 'a-long-password'],
      [basic, base64('user:a-long-password')],
    ] as const)
      expect([echo, scan(header, [Buffer.from(`x${echo}x`)]).found]).toEqual([echo, true]);
  });

  it('does not search for texts of fewer than 8 bytes, which occur by chance', () => {
    expect(echoPatterns({ credentialId: 'crd_1', host: 'a.test' }, new Secret('1234567'))).toEqual([]);
  });

  it('names the credential in headers', () => {
    const patterns = echoPatterns({ credentialId: 'crd_1', host: 'a.test' }, new Secret('token-0123456789'));
    expect(() => scanText('X-Echo: token-0123456789', patterns)).toThrow(
      expect.objectContaining({ credentialId: 'crd_1' }),
    );
  });
});
