import { hkdfSync } from 'node:crypto';
import { KEY_BYTES } from './aead.ts';

/** Returns the key of a purpose, 32 bytes. The same in every process with the same secret. */
export type DeriveKey = (purpose: string) => Uint8Array;

/** Derives independent keys from the shared key of the services (HKDF-SHA-256), each once. */
export function createKeyDeriver(secret: string): DeriveKey {
  const keys = new Map<string, Uint8Array>();
  return (purpose) => {
    const known = keys.get(purpose);
    if (known) return known;
    const key = new Uint8Array(hkdfSync('sha256', secret, '', purpose, KEY_BYTES));
    keys.set(purpose, key);
    return key;
  };
}
