import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';

/** A signed request: every value of the two headers, and exactly the received bytes. */
export interface SignedRequest {
  timestamps: readonly string[];
  signatures: readonly string[];
  body: Uint8Array;
}

interface VerificationOptions {
  /** HMAC key: the UTF-8 bytes of the shared secret. */
  key: KeyObject;
  now: Date;
  /** Largest accepted difference between the timestamp and `now`, in both directions. */
  windowSeconds: number;
}

export type SignatureFault =
  | 'missing_timestamp'
  | 'duplicate_timestamp'
  | 'malformed_timestamp'
  | 'stale_timestamp'
  | 'missing_signature'
  | 'duplicate_signature'
  | 'malformed_signature'
  | 'bad_signature';

const TIMESTAMP = /^[0-9]{1,15}$/;
const SIGNATURE_BYTES = 32;

/**
 * Verifies the signature: the HMAC-SHA256 of `<timestamp>.<lowercase hex SHA-256 of the body>` in standard Base64.
 * Returns undefined for a valid signature.
 */
export function findSignatureFault(
  call: SignedRequest,
  measure: VerificationOptions,
): SignatureFault | undefined {
  const [timestamp, ...moreTimestamps] = call.timestamps;
  if (timestamp === undefined) return 'missing_timestamp';
  if (moreTimestamps.length > 0) return 'duplicate_timestamp';
  if (!TIMESTAMP.test(timestamp)) return 'malformed_timestamp';
  const nowSeconds = Math.floor(measure.now.getTime() / 1000);
  if (Math.abs(nowSeconds - Number(timestamp)) > measure.windowSeconds) return 'stale_timestamp';

  const [signature, ...moreSignatures] = call.signatures;
  if (signature === undefined) return 'missing_signature';
  if (moreSignatures.length > 0) return 'duplicate_signature';
  const actual = Buffer.from(signature, 'base64');
  // Decoding is lenient. Only the canonical Base64 text equals the encoding of its bytes.
  if (actual.length !== SIGNATURE_BYTES || actual.toString('base64') !== signature)
    return 'malformed_signature';

  const signed = `${timestamp}.${hash('sha256', call.body, 'hex')}`;
  const expected = createHmac('sha256', measure.key).update(signed).digest();
  return timingSafeEqual(actual, expected) ? undefined : 'bad_signature';
}
