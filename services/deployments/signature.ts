import { createHmac, hash, type KeyObject, timingSafeEqual } from 'node:crypto';

/** What a signed call carries: every value of the two headers, and exactly the bytes received. */
export interface SignedCall {
  timestamps: readonly string[];
  signatures: readonly string[];
  body: Uint8Array;
}

/** How a call is measured: by the deployment's key, and around now in both directions. */
export interface Measure {
  /** HMAC key: the UTF-8 bytes of the shared secret as it was shown. */
  key: KeyObject;
  now: Date;
  /** A timestamp may be exactly this far away. */
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
 * What is wrong with the signature of a call, or undefined when it is right. Signed is
 * `<timestamp>.<lowercase hex SHA-256 of the body>`, by HMAC-SHA256, written as standard Base64.
 */
export function signatureFault(call: SignedCall, measure: Measure): SignatureFault | undefined {
  const [timestamp, ...moreTimestamps] = call.timestamps;
  if (timestamp === undefined) return 'missing_timestamp';
  if (moreTimestamps.length > 0) return 'duplicate_timestamp';
  if (!TIMESTAMP.test(timestamp)) return 'malformed_timestamp';
  const nowSeconds = Math.floor(measure.now.getTime() / 1000);
  if (Math.abs(nowSeconds - Number(timestamp)) > measure.windowSeconds) return 'stale_timestamp';

  const [signature, ...moreSignatures] = call.signatures;
  if (signature === undefined) return 'missing_signature';
  if (moreSignatures.length > 0) return 'duplicate_signature';
  const given = Buffer.from(signature, 'base64');
  // Decoding is lenient; only the one canonical text of these bytes encodes back to itself.
  if (given.length !== SIGNATURE_BYTES || given.toString('base64') !== signature)
    return 'malformed_signature';

  const signed = `${timestamp}.${hash('sha256', call.body, 'hex')}`;
  const expected = createHmac('sha256', measure.key).update(signed).digest();
  return timingSafeEqual(given, expected) ? undefined : 'bad_signature';
}
