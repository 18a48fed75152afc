import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

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

interface Key {
  id: string;
  bytes: Uint8Array;
}

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MIN_CHARACTERS = 32;

/**
 * `keys` is the value of SERVICE_SEALING_KEY: one or more keys of at least 32 characters, separated by commas.
 * The first key seals and every key opens. To rotate keys, add the new key at the front.
 */
export function createSealer(keys: string): Sealer {
  const known = keys.split(',').map((text, index) => keyOf(text.trim(), index + 1));
  const byId = new Map(known.map((key) => [key.id, key]));
  const [sealing] = known;
  if (!sealing) throw new Error('SERVICE_SEALING_KEY contains no key');

  return {
    keyIds: known.map(({ id }) => id),

    seal(plaintext, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, sealing.bytes, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associated(sealing.id, context));
      const sealed = [nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `${VERSION}.${sealing.id}.${Buffer.concat(sealed).toString('base64url')}`;
    },

    open(sealed, context) {
      const { id, bytes } = parse(sealed);
      const key = byId.get(id);
      if (!key) throw new Error(`SERVICE_SEALING_KEY does not contain the key ${id} of a sealed text`);
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const tag = bytes.subarray(bytes.length - TAG_BYTES);
      const decipher = createDecipheriv(CIPHER, key.bytes, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(associated(id, context));
      decipher.setAuthTag(tag);
      const opened = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
      try {
        return Buffer.concat([opened, decipher.final()]).toString('utf8');
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

function keyOf(text: string, position: number): Key {
  if (text.length < MIN_CHARACTERS) {
    throw new Error(
      `SERVICE_SEALING_KEY: key ${position} has ${text.length} characters, expected at least ${MIN_CHARACTERS}`,
    );
  }
  return {
    id: createHash('sha256').update(text).digest('hex').slice(0, 8),
    bytes: new Uint8Array(hkdfSync('sha256', text, '', 'agent-hosting-service sealing v1', KEY_BYTES)),
  };
}

function parse(sealed: string): { id: string; bytes: Buffer } {
  const [version, id = '', text = '', ...rest] = sealed.split('.');
  if (version !== VERSION || rest.length > 0) throw new Error('a sealed text has an unknown format');
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) {
    throw new Error('a sealed text is damaged');
  }
  return { id, bytes };
}

function associated(id: string, context: string): Buffer {
  return Buffer.from(`${VERSION}.${id}.${context}`);
}
