import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const CIPHER = 'aes-256-gcm';
export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const OVERHEAD_BYTES = NONCE_BYTES + TAG_BYTES;

/**
 * Encrypts with AES-256-GCM and a random nonce. Returns the nonce (12 bytes), the ciphertext and the tag (16 bytes). The
 * associated data is authenticated and not part of the result.
 */
export function encrypt(key: Uint8Array, plaintext: Uint8Array, associatedData: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(associatedData));
  return Buffer.concat([nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
}

/** Throws for another key, for other associated data and for a changed box. The error contains none of them. */
export function decrypt(key: Uint8Array, box: Uint8Array, associatedData: string): Buffer {
  if (box.length < OVERHEAD_BYTES) throw new Error('an encrypted text is truncated');
  const tagStart = box.length - TAG_BYTES;
  const decipher = createDecipheriv(CIPHER, key, box.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(associatedData));
  decipher.setAuthTag(box.subarray(tagStart));
  const opened = decipher.update(box.subarray(NONCE_BYTES, tagStart));
  try {
    decipher.final();
  } catch {
    opened.fill(0);
    throw new Error('an encrypted text is damaged or belongs to another context');
  }
  return opened;
}
