import { createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

/** A certificate and its private key as PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

interface CertificateOptions {
  /** Host names and IPv4 addresses. */
  names?: readonly string[];
  notBefore?: Date;
  notAfter?: Date;
}

/** A certificate authority of a test. */
export interface Authority extends Certificate {
  issue(options?: CertificateOptions): Certificate;
}

/** The validity of certificates without another one. */
const NOT_BEFORE = new Date('2020-01-01T00:00:00Z');
const NOT_AFTER = new Date('2099-01-01T00:00:00Z');

/** Creates a certificate authority. Lane 1 has no `openssl`, so the certificates are encoded here (RFC 5280). */
export function createAuthority(name: string, options: Omit<CertificateOptions, 'names'> = {}): Authority {
  const isAuthority = extension('551d13', sequence(tlv(0x01, Buffer.of(0xff))));
  const { publicKey, key } = createKey();
  const self = { cert: certify(name, name, publicKey, key, [isAuthority], options), key };
  return {
    ...self,
    issue({ names = ['127.0.0.1', 'localhost'], ...validity } = {}) {
      const own = createKey();
      const alternatives = extension('551d11', sequence(...names.map(generalName)));
      const cert = certify(name, `service of ${name}`, own.publicKey, key, [alternatives], validity);
      return { cert, key: own.key };
    },
  };
}

function createKey() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { publicKey, key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })) };
}

let lastSerial = 0;

function certify(
  issuer: string,
  subject: string,
  publicKey: KeyObject,
  issuerKey: string,
  extensions: readonly Buffer[],
  { notBefore = NOT_BEFORE, notAfter = NOT_AFTER }: CertificateOptions,
): string {
  const ecdsaWithSha256 = sequence(tlv(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
  const content = sequence(
    tlv(0xa0, tlv(0x02, Buffer.of(2))),
    tlv(0x02, Buffer.of(1, ++lastSerial)),
    ecdsaWithSha256,
    distinguishedName(issuer),
    sequence(time(notBefore), time(notAfter)),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', content, createPrivateKey(issuerKey));
  const der = sequence(content, ecdsaWithSha256, tlv(0x03, Buffer.of(0), signature));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function distinguishedName(commonName: string): Buffer {
  const attribute = sequence(tlv(0x06, Buffer.from('550403', 'hex')), tlv(0x0c, Buffer.from(commonName)));
  return sequence(tlv(0x31, attribute));
}

function generalName(name: string): Buffer {
  return isIPv4(name) ? tlv(0x87, Buffer.from(name.split('.').map(Number))) : tlv(0x82, Buffer.from(name));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(tlv(0x06, Buffer.from(id, 'hex')), tlv(0x04, value));
}

/** As GeneralizedTime. */
function time(date: Date): Buffer {
  return tlv(0x18, Buffer.from(`${date.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(0x30, ...parts);
}

/** A tag, the length in its shortest form, and the value. */
function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  const { length } = value;
  const bytes = length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(length < 128 ? [length] : bytes)]), value]);
}
