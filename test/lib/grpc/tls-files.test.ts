import { createPrivateKey } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkTlsFiles, readTlsFiles } from '../../../lib/grpc/tls-files.ts';
import { type Certificate, createAuthority } from '../../support/certificates.ts';
import { scratch } from '../../support/scratch.ts';

const NOW = new Date('2026-06-01T12:00:00Z');
const PAST = new Date('2026-05-31T12:00:00Z');
const FUTURE = new Date('2026-06-02T12:00:00Z');

const authority = createAuthority('authority');
const { cert, key } = authority.issue({ notAfter: FUTURE });
const ca = authority.cert;
const other = createAuthority('other');
const expired = authority.issue({ notAfter: PAST });
const early = authority.issue({ notBefore: FUTURE });
const retired = createAuthority('retired', { notAfter: PAST });
const cipher = { cipher: 'aes-256-cbc', passphrase: 'a passphrase' };
const encrypted = String(createPrivateKey(key).export({ type: 'pkcs8', format: 'pem', ...cipher }));

describe('TLS files', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(scratch(), 'ahs-tls-files-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  /** Checks files with these contents. An undefined one does not exist. */
  async function check(contents: { cert?: string; key?: string; ca?: string }) {
    const paths = { cert: join(directory, 'cert'), key: join(directory, 'key'), ca: join(directory, 'ca') };
    for (const name of ['cert', 'key', 'ca'] as const) {
      await rm(paths[name], { force: true });
      const content = contents[name];
      if (content !== undefined) await writeFile(paths[name], content);
    }
    return checkTlsFiles(await readTlsFiles(paths), NOW);
  }

  it.each<[string, Certificate & { ca: string }]>([
    ['one certificate, its key and the CA', { cert, key, ca }],
    ['a chain of certificates', { cert: cert + ca, key, ca }],
    ['the previous CA beside the current one', { cert, key, ca: retired.cert + ca }],
  ])('can contain %s', async (_, contents) => {
    expect(await check(contents)).toMatchObject({ notAfter: FUTURE });
  });

  it.each<[string, string, RegExp, { cert?: string; key?: string; ca?: string }]>([
    ['a missing certificate', 'cert', /^cannot be read \(ENOENT\)$/, { key, ca }],
    ['a missing key', 'key', /^cannot be read \(ENOENT\)$/, { cert, ca }],
    ['a missing CA', 'ca', /^cannot be read \(ENOENT\)$/, { cert, key }],
    ['a certificate that is no PEM', 'cert', /^contains no PEM certificate$/, { cert: 'x', key, ca }],
    [
      'a truncated certificate',
      'cert',
      /^contains an invalid certificate/,
      { cert: cert.replace(/\n.{40}/, '\n'), key, ca },
    ],
    ['a CA that is no PEM', 'ca', /^contains no PEM certificate$/, { cert, key, ca: key }],
    ['a key that is no PEM', 'key', /^contains no PEM private key$/, { cert, key: cert, ca }],
    ['a key with a passphrase', 'key', /^is encrypted with a passphrase$/, { cert, key: encrypted, ca }],
    [
      'the key of another certificate',
      'key',
      /^does not match the certificate$/,
      { cert, key: other.key, ca },
    ],
    ['an expired certificate', 'cert', /expired at 2026-05-31T12:00:00.000Z$/, { ...expired, ca }],
    ['a certificate of the future', 'cert', /not valid before 2026-06-02T12:00:00.000Z$/, { ...early, ca }],
    ['an expired CA', 'ca', /CN=retired that expired at /, { cert, key, ca: retired.cert }],
  ])('are refused with %s', async (_, file, problem, contents) => {
    const found = await check(contents);
    expect(found).toEqual([
      {
        file,
        problem: expect.stringMatching(problem),
        expected: expect.any(String),
        fix: expect.any(String),
      },
    ]);
  });

  it('are refused with all problems at once', async () => {
    const found = await check({ cert: expired.cert, key: encrypted });
    expect(Array.isArray(found) && found.map(({ file }) => file)).toEqual(['cert', 'key', 'ca']);
  });
});
