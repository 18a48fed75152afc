import type { Secret } from '../../../lib/secret.ts';
import type { DataKey } from './data-key.ts';

const FINGERPRINT_DIGITS = 12;
/** Four characters are at most a fifth of a secret that is shown in part. */
const MIN_SHOWN_CHARACTERS = 20;

/** Returns a digest of a secret that only the vault's MAC key reproduces. */
export function fingerprintOf(key: DataKey, secret: Secret): string {
  return key.mac('fingerprint', secret.reveal()).toString('hex').slice(0, FINGERPRINT_DIGITS);
}

/** Returns the last four characters of a long secret. */
export function lastFourOf(secret: Secret): string | undefined {
  const characters = Array.from(secret.reveal());
  return characters.length < MIN_SHOWN_CHARACTERS ? undefined : characters.slice(-4).join('');
}
