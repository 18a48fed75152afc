import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { readHeader, readTimestamp } from '../headers.ts';
import type { Verifier } from '../product.ts';

const SIGNATURE = /^[0-9a-f]{128}$/i;
const PUBLIC_KEY = /^[0-9a-f]{64}$/i;

/**
 * Verifies the Ed25519 signature of timestamp and body
 * (https://discord.com/developers/docs/interactions/overview#setting-up-an-endpoint-validating-security-request-headers).
 */
export function discordVerifier({ public_key: publicKey = '' }: Readonly<Record<string, string>>): Verifier {
  const key = keyOf(publicKey);
  return ({ headers, body }, now) => {
    const timestamp = readTimestamp(headers, 'x-signature-timestamp', now);
    if ('fault' in timestamp) return timestamp.fault;
    const signature = readHeader(headers, 'x-signature-ed25519');
    if ('problem' in signature) return `${signature.problem}_signature`;
    if (!SIGNATURE.test(signature.value)) return 'malformed_signature';
    const signed = Buffer.concat([Buffer.from(timestamp.value), body]);
    const isAuthentic = key && verify(null, signed, key, Buffer.from(signature.value, 'hex'));
    return isAuthentic ? undefined : 'bad_signature';
  };
}

/** Undefined for a text that is no key: each signature is wrong then. */
function keyOf(publicKey: string): KeyObject | undefined {
  if (!PUBLIC_KEY.test(publicKey)) return undefined;
  const x = Buffer.from(publicKey, 'hex').toString('base64url');
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  } catch {
    return undefined;
  }
}
