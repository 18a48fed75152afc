import { generateKeyPairSync, type KeyObject, randomBytes, webcrypto } from 'node:crypto';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { Clock } from '../../../../lib/clock.ts';
import { LruCache } from '../../../../lib/lru.ts';

const DAY_MS = 86_400_000;
const VALID_MS = 7 * DAY_MS;
/** A command that starts while an authority is used runs for at most a day, and trusts no later one. */
const RENEW_MS = 2 * DAY_MS;
/** The clock of a program in the sandbox may have been read before. */
const BACKDATED_MS = 3_600_000;
const MAX_HOSTS = 64;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const NAME = 'CN=Proxy of this sandbox';

/** Issues the certificates with which the proxy of one sandbox answers for hosts. Its keys stay in memory. */
export class CertificateAuthority {
  /** As PEM. */
  readonly certificate: string;
  readonly #x509: X509;
  readonly #clock: Clock;
  readonly #expiresAt: number;
  readonly #issuer: InstanceType<X509['X509Certificate']>;
  readonly #signingKey: webcrypto.CryptoKey;
  /** One key serves all hosts, because only the sandbox could tell them apart. */
  readonly #hostKey: { pem: string; publicKey: webcrypto.CryptoKey };
  readonly #contexts = new LruCache<string, Promise<SecureContext>>(MAX_HOSTS);

  private constructor(made: AuthorityParts, clock: Clock) {
    this.#x509 = made.x509;
    this.#clock = clock;
    this.#issuer = made.issuer;
    this.#signingKey = made.signingKey;
    this.#hostKey = made.hostKey;
    this.#expiresAt = made.issuer.notAfter.getTime();
    this.certificate = `${made.issuer.toString('pem').trim()}\n`;
  }

  static async create(clock: Clock): Promise<CertificateAuthority> {
    const x509 = await loadX509();
    const keys = await webcrypto.subtle.generateKey(ALGORITHM, false, ['sign', 'verify']);
    const issuer = await x509.X509CertificateGenerator.createSelfSigned({
      name: NAME,
      keys,
      ...validity(clock),
      serialNumber: newSerial(),
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(true, 0, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
        await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
      ],
    });
    return new CertificateAuthority(
      { x509, issuer, signingKey: keys.privateKey, hostKey: await newHostKey() },
      clock,
    );
  }

  /** Whether it expires so soon that new commands should trust another one. */
  get isExpiring(): boolean {
    return this.#clock.now().getTime() > this.#expiresAt - RENEW_MS;
  }

  /** The certificate and key of a host, for the server side of TLS. */
  contextFor(host: string): Promise<SecureContext> {
    const known = this.#contexts.get(host);
    if (known !== undefined) return known;
    const created = this.issue(host).then(({ cert, key }) =>
      createSecureContext({ cert, key, minVersion: 'TLSv1.2' }),
    );
    this.#contexts.set(host, created);
    return created;
  }

  /** Returns a certificate for a host name, and its key, as PEM. */
  async issue(host: string): Promise<{ cert: string; key: string }> {
    const x509 = this.#x509;
    const certificate = await x509.X509CertificateGenerator.create({
      // A common name has at most 64 characters; the alternative name counts.
      subject: 'CN=Host behind the proxy of this sandbox',
      issuer: this.#issuer.subject,
      publicKey: this.#hostKey.publicKey,
      signingKey: this.#signingKey,
      ...validity(this.#clock),
      notAfter: new Date(this.#expiresAt),
      serialNumber: newSerial(),
      signingAlgorithm: ALGORITHM,
      extensions: [
        new x509.BasicConstraintsExtension(false, undefined, true),
        new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
        new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
        new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
        await x509.AuthorityKeyIdentifierExtension.create(this.#issuer),
      ],
    });
    return { cert: certificate.toString('pem'), key: this.#hostKey.pem };
  }
}

type X509 = typeof import('@peculiar/x509');

interface AuthorityParts {
  x509: X509;
  issuer: InstanceType<X509['X509Certificate']>;
  signingKey: webcrypto.CryptoKey;
  hostKey: { pem: string; publicKey: webcrypto.CryptoKey };
}

/** Loaded at the first use, because it takes 24 MiB and 0.1 s. */
async function loadX509(): Promise<X509> {
  // The library's dependency injection needs Reflect.getMetadata.
  await import('reflect-metadata');
  return await import('@peculiar/x509');
}

async function newHostKey(): Promise<AuthorityParts['hostKey']> {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { pem: pemOf(privateKey), publicKey: await toWebKey(publicKey) };
}

const pemOf = (key: KeyObject): string => String(key.export({ type: 'pkcs8', format: 'pem' }));

const toWebKey = (key: KeyObject): Promise<webcrypto.CryptoKey> =>
  webcrypto.subtle.importKey('spki', key.export({ type: 'spki', format: 'der' }), ALGORITHM, true, [
    'verify',
  ]);

function validity(clock: Clock): { notBefore: Date; notAfter: Date } {
  const now = clock.now().getTime();
  return { notBefore: new Date(now - BACKDATED_MS), notAfter: new Date(now + VALID_MS) };
}

/** A positive number of 16 bytes. */
function newSerial(): string {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0] ?? 0) & 0x7f || 1;
  return bytes.toString('hex');
}
