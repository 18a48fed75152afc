import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { readHeader, readTimestamp } from '../headers.ts';
import type { Verifier } from '../product.ts';

const ID = /^[\x21-\x7e]{1,255}$/;
const PREFIX = 'whsec_';
const VERSION = 'v1,';
const SIGNATURE_BYTES = 32;

/**
 * Verifies a request as Standard Webhooks (https://www.standardwebhooks.com): one of the signatures, which are separated by
 * spaces, is the HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<payload>` in Base64. The key is the Base64 text behind
 * `whsec_`. The payload of a callback is its body; that of a request without a body is its target.
 */
export function httpVerifier({ shared_secret: secret = '' }: Readonly<Record<string, string>>): Verifier {
  const bytes = Buffer.from(secret.replace(PREFIX, ''), 'base64');
  // Anyone can sign with an empty key.
  const key = bytes.length > 0 ? createSecretKey(bytes) : undefined;
  return ({ headers, body }, now) => {
    const id = readHeader(headers, 'webhook-id');
    if ('problem' in id) return `${id.problem}_id`;
    if (!ID.test(id.value)) return 'malformed_id';
    const timestamp = readTimestamp(headers, 'webhook-timestamp', now);
    if ('fault' in timestamp) return timestamp.fault;
    const header = readHeader(headers, 'webhook-signature');
    if ('problem' in header) return `${header.problem}_signature`;
    const signatures = header.value.split(' ').flatMap(signatureOf);
    if (signatures.length === 0) return 'malformed_signature';
    if (!key) return 'bad_signature';
    const expected = hmac(key, `${id.value}.${timestamp.value}.`, body);
    return signatures.some((signature) => timingSafeEqual(signature, expected)) ? undefined : 'bad_signature';
  };
}

/** None for a signature of another version and for a malformed one. */
function signatureOf(text: string): Buffer[] {
  if (!text.startsWith(VERSION)) return [];
  const encoded = text.slice(VERSION.length);
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length === SIGNATURE_BYTES && bytes.toString('base64') === encoded ? [bytes] : [];
}

function hmac(key: KeyObject, prefix: string, payload: Uint8Array): Buffer {
  return createHmac('sha256', key).update(prefix).update(payload).digest();
}
