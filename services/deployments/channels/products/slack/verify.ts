import { createHmac, timingSafeEqual } from 'node:crypto';
import { readHeader, readTimestamp } from '../headers.ts';
import type { Verifier } from '../product.ts';

const SIGNATURE = /^v0=([0-9a-f]{64})$/;

/**
 * Verifies the hexadecimal HMAC-SHA256 of `v0:<timestamp>:<body>`
 * (https://docs.slack.dev/authentication/verifying-requests-from-slack).
 */
export function slackVerifier({ signing_secret: secret = '' }: Readonly<Record<string, string>>): Verifier {
  return ({ headers, body }, now) => {
    const timestamp = readTimestamp(headers, 'x-slack-request-timestamp', now);
    if ('fault' in timestamp) return timestamp.fault;
    const signature = readHeader(headers, 'x-slack-signature');
    if ('problem' in signature) return `${signature.problem}_signature`;
    const [, digits] = SIGNATURE.exec(signature.value) ?? [];
    if (digits === undefined) return 'malformed_signature';
    const expected = createHmac('sha256', secret).update(`v0:${timestamp.value}:`).update(body).digest();
    // Anyone can sign with an empty secret, which a channel in another mode can have.
    const isAuthentic = secret !== '' && timingSafeEqual(Buffer.from(digits, 'hex'), expected);
    return isAuthentic ? undefined : 'bad_signature';
  };
}
