import { createHash, hkdfSync } from 'node:crypto';
import { decrypt, encrypt, KEY_BYTES } from './aead.ts';

/**
 * Encrypts small secrets before they are stored in the database. A sealed text has the form
 * `v1.<key id>.<base64url(nonce, AES-256-GCM ciphertext, tag)>`. The context (for example the id of the deployment that
 * owns the secret) is authenticated, so a sealed text that is copied to another record cannot be opened.
 */
export interface Sealer {
  /** The ids of the keys. The first one seals. */
  readonly keyIds: readonly string[];
  seal(plaintext: string, context: string): string;
  /** Throws when the key is unknown or the text or context differs from `seal`. The message contains no secret. */
  open(sealed: string, context: string): string;
}

/** The keys of SERVICE_SEALING_KEY. */
export interface SealingKeySource {
  /** Returns undefined when no key is configured and none is stored. */
  read(): Promise<string | undefined>;
  /** Creates and stores a key. Concurrent calls get the same key. */
  create(): Promise<string>;
}

interface DerivedKey {
  /** The first 8 hexadecimal digits of the SHA-256 of the configured key. */
  id: string;
  bytes: Uint8Array;
}

/** Secrets of the database are sealed with a key that is not configured. */
export class SealingKeyProblem extends Error {
  override readonly name = 'SealingKeyProblem';
}

const VERSION = 'v1';
const MIN_CHARACTERS = 32;

/**
 * `keys` is the value of SERVICE_SEALING_KEY: one or more keys of at least 32 characters, separated by commas.
 * The first key seals and every key opens. To rotate keys, add the new key at the front.
 */
export function createSealer(keys: string): Sealer {
  const known = deriveKeys(keys, 'agent-hosting-service sealing v1');
  const byId = new Map(known.map((key) => [key.id, key]));
  const [sealing] = known;

  return {
    keyIds: known.map(({ id }) => id),

    seal(plaintext, context) {
      const box = encrypt(sealing.bytes, Buffer.from(plaintext), associated(sealing.id, context));
      return `${VERSION}.${sealing.id}.${box.toString('base64url')}`;
    },

    open(sealed, context) {
      const { id, bytes } = parse(sealed);
      const key = byId.get(id);
      if (!key) throw new Error(`SERVICE_SEALING_KEY does not contain the key ${id} of a sealed text`);
      try {
        return decrypt(key.bytes, bytes, associated(id, context)).toString('utf8');
      } catch {
        throw new Error(`a sealed text is damaged or does not belong to ${context}`);
      }
    },
  };
}

/** Returns the id of the key that sealed a text. */
export function keyIdOf(sealed: string): string {
  return parse(sealed).id;
}

/**
 * Returns one key per key of SERVICE_SEALING_KEY, in their order. Keys of different purposes are independent and have the
 * same ids. Throws for a key of less than 32 characters.
 */
export function deriveKeys(keys: string, purpose: string): [DerivedKey, ...DerivedKey[]] {
  const [first = '', ...others] = keys.split(',').map((text) => text.trim());
  return [deriveKey(first, 1, purpose), ...others.map((text, index) => deriveKey(text, index + 2, purpose))];
}

/** Returns the problem of a missing key. `configured` are the ids of the present keys. */
export function missingSealingKey(keyId: string, configured: readonly string[]): SealingKeyProblem {
  const found = configured.length === 0 ? 'no key is configured' : `configured: ${configured.join(', ')}`;
  return new SealingKeyProblem(`the key ${keyId}, with which the database was sealed, is missing (${found})`);
}

function deriveKey(text: string, position: number, purpose: string): DerivedKey {
  if (text.length < MIN_CHARACTERS) {
    throw new Error(
      `SERVICE_SEALING_KEY: key ${position} has ${text.length} characters, expected at least ${MIN_CHARACTERS}`,
    );
  }
  return {
    id: createHash('sha256').update(text).digest('hex').slice(0, 8),
    bytes: new Uint8Array(hkdfSync('sha256', text, '', purpose, KEY_BYTES)),
  };
}

function parse(sealed: string): { id: string; bytes: Buffer } {
  const [version, id = '', text = '', ...rest] = sealed.split('.');
  if (version !== VERSION || rest.length > 0) throw new Error('a sealed text has an unknown format');
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.toString('base64url') !== text) {
    throw new Error('a sealed text is damaged');
  }
  return { id, bytes };
}

function associated(id: string, context: string): string {
  return `${VERSION}.${id}.${context}`;
}
