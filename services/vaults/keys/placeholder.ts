import type { DataKey } from './data-key.ts';

/** 128 bits, which cannot be guessed. Programs accept hexadecimal digits in tokens of every kind. */
const DIGITS = 32;

/** Returns the digits that stand for a credential in the sandbox of a session. They serve no other session. */
export function placeholderOf(key: DataKey, sessionId: string, credentialId: string): string {
  return key.mac('placeholder', `${sessionId}|${credentialId}`).toString('hex').slice(0, DIGITS);
}
