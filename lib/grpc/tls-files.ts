import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext } from 'node:tls';

/** The paths of PEM files. */
export interface TlsPaths {
  /** The certificate of this process, followed by the intermediate certificates up to the CA. */
  cert: string;
  /** The private key of the certificate. */
  key: string;
  /** The certificates of the CAs that sign the certificates of all processes. */
  ca: string;
}

/** The contents of valid files. */
export interface TlsMaterial {
  cert: Buffer;
  key: Buffer;
  ca: Buffer;
  /** The time at which the certificate expires. */
  notAfter: Date;
}

/** A file that cannot be used, and the fix. `problem` follows the name of the file or its setting. */
export interface TlsFileProblem {
  file: keyof TlsPaths;
  problem: string;
  expected: string;
  fix: string;
}

type FileName = keyof TlsPaths;

/** The contents of the files at one time. */
export interface TlsFiles {
  /** The code of the error for a file that cannot be read. */
  contents: Readonly<Record<FileName, Buffer | string>>;
  /** Equal for equal contents. */
  digest: string;
}

const FILES: readonly FileName[] = ['cert', 'key', 'ca'];
const CERTIFICATE = /-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs;
const EXPECTED: Record<FileName, string> = {
  cert: 'the path of a PEM file with the certificate of this process',
  key: 'the path of a PEM file with the private key of the certificate, without a passphrase',
  ca: 'the path of a PEM file with the certificates of the CAs of all processes',
};

const RENEW = 'issue a new certificate';
const PAIR = 'name the key with which the certificate was requested';

/** The message is the problem. */
class UnusableFile extends Error {
  readonly fix: string;

  constructor(problem: string, fix: string, cause?: unknown) {
    super(problem, { cause });
    this.fix = fix;
  }
}

export async function readTlsFiles(paths: TlsPaths): Promise<TlsFiles> {
  const [cert, key, ca] = await Promise.all([read(paths.cert), read(paths.key), read(paths.ca)]);
  const contents = { cert, key, ca };
  const hash = createHash('sha256');
  for (const name of FILES) hash.update(`${contents[name].length}:`).update(contents[name]);
  return { contents, digest: hash.digest('base64') };
}

async function read(path: string): Promise<Buffer | string> {
  try {
    return await readFile(path);
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
  }
}

/** Returns the contents, or all problems that prevent their use at this time. */
export function checkTlsFiles({ contents }: TlsFiles, now: Date): TlsMaterial | TlsFileProblem[] {
  const problems: TlsFileProblem[] = [];
  const parsed = <T>(file: FileName, parse: (pem: Buffer) => T): T | undefined => {
    const content = contents[file];
    try {
      if (typeof content === 'string')
        throw new UnusableFile(`cannot be read (${content})`, 'name a file that this user can read');
      return parse(content);
    } catch (error) {
      if (!(error instanceof UnusableFile)) throw error;
      problems.push({ file, problem: error.message, expected: EXPECTED[file], fix: error.fix });
      return undefined;
    }
  };
  const chain = parsed('cert', (pem) => readChain(pem, now));
  const key = parsed('key', readKey);
  const authorities = parsed('ca', (pem) => readAuthorities(pem, now));
  if (chain && key && !chain.leaf.checkPrivateKey(key.key))
    problems.push({
      file: 'key',
      problem: 'does not match the certificate',
      expected: EXPECTED.key,
      fix: PAIR,
    });
  if (problems.length > 0 || !chain || !key || !authorities) return problems;
  try {
    const material = { cert: chain.pem, key: key.pem, ca: authorities.pem };
    createSecureContext(material);
    return { ...material, notAfter: chain.leaf.validToDate };
  } catch (error) {
    const problem = `cannot be used (${messageOf(error)})`;
    return [{ file: 'cert', problem, expected: EXPECTED.cert, fix: RENEW }];
  }
}

function readChain(pem: Buffer, now: Date) {
  const certificates = readCertificates(pem);
  const [leaf] = certificates;
  for (const certificate of certificates) {
    const problem = timeProblem(certificate, now);
    if (problem) throw new UnusableFile(problem, RENEW);
  }
  return { pem, leaf };
}

/** While a CA is replaced, the file contains the old one, too. */
function readAuthorities(pem: Buffer, now: Date) {
  const problems = readCertificates(pem).map((certificate) => timeProblem(certificate, now));
  if (problems[0] !== undefined && !problems.includes(undefined)) throw new UnusableFile(problems[0], RENEW);
  return { pem };
}

function readKey(pem: Buffer) {
  try {
    return { pem, key: createPrivateKey(pem) };
  } catch (cause) {
    if (/ENCRYPTED/.test(pem.toString()))
      throw new UnusableFile('is encrypted with a passphrase', 'decrypt it with: openssl pkey', cause);
    throw new UnusableFile('contains no PEM private key', PAIR, cause);
  }
}

function readCertificates(pem: Buffer): [X509Certificate, ...X509Certificate[]] {
  const [first, ...others] = pem.toString().match(CERTIFICATE) ?? [];
  if (first === undefined) throw new UnusableFile('contains no PEM certificate', 'name another file');
  return [readCertificate(first), ...others.map(readCertificate)];
}

function readCertificate(text: string): X509Certificate {
  try {
    return new X509Certificate(text);
  } catch (error) {
    throw new UnusableFile(`contains an invalid certificate (${messageOf(error)})`, RENEW, error);
  }
}

function timeProblem(
  { subject, validFromDate, validToDate }: X509Certificate,
  now: Date,
): string | undefined {
  const name = subject ? ` of ${subject.replaceAll('\n', ', ')}` : '';
  if (validToDate <= now) return `contains a certificate${name} that expired at ${validToDate.toISOString()}`;
  if (validFromDate > now)
    return `contains a certificate${name} that is not valid before ${validFromDate.toISOString()}`;
  return undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
