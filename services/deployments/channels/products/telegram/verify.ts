import { createHash, timingSafeEqual } from 'node:crypto';
import { readHeader } from '../headers.ts';
import type { Verifier } from '../product.ts';

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Verifies the secret token that setWebhook has set (https://core.telegram.org/bots/api#setwebhook). */
export function telegramVerifier({
  webhook_secret: secret = '',
}: Readonly<Record<string, string>>): Verifier {
  const expected = digest(secret);
  return ({ headers }) => {
    const token = readHeader(headers, 'x-telegram-bot-api-secret-token');
    if ('problem' in token) return `${token.problem}_secret_token`;
    const received = token.valueSha256 ?? digest(token.value);
    // Digests have the same length, so the time does not reveal that of the secret.
    const isAuthentic =
      secret !== '' && received.length === expected.length && timingSafeEqual(received, expected);
    return isAuthentic ? undefined : 'bad_secret_token';
  };
}
