import { createCipheriv, createDecipheriv, createHash, hkdfSync, randomBytes } from 'node:crypto';

/**
 * Keeps small secrets unreadable in the database. A sealed text names the version of its form and the key
 * it needs: `v1.<key id>.<base64url(nonce, AES-256-GCM ciphertext, tag)>`. The context (whose secret it is,
 * for example a deployment id) is authenticated with it: a text moved to another place does not open there.
 */
export interface Sealer {
  seal(plaintext: string, context: string): string;
  /** Throws an Error that holds no secret when the key is unknown, or when text or context are not those of `seal`. */
  open(sealed: string, context: string): string;
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
 * `keys` is the text of SERVICE_SEALING_KEY: one or more keys of at least 32 characters, separated by commas.
 * The first one seals, all of them open: put a new key in front to change keys.
 */
export function createSealer(keys: string): Sealer {
  const known = keys.split(',').map((text, index) => keyOf(text.trim(), index + 1));
  const byId = new Map(known.map((key) => [key.id, key]));
  const [sealing] = known;
  if (!sealing) throw new Error('SERVICE_SEALING_KEY holds no key');

  return {
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
      if (!key) throw new Error(`a sealed text needs the key ${id}, which SERVICE_SEALING_KEY does not hold`);
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

function keyOf(text: string, place: number): Key {
  if (text.length < MIN_CHARACTERS) {
    throw new Error(
      `SERVICE_SEALING_KEY: key ${place} has ${text.length} characters, expected at least ${MIN_CHARACTERS}`,
    );
  }
  return {
    id: createHash('sha256').update(text).digest('hex').slice(0, 8),
    bytes: new Uint8Array(hkdfSync('sha256', text, '', 'agent-hosting-service sealing v1', KEY_BYTES)),
  };
}

function parse(sealed: string): { id: string; bytes: Buffer } {
  const [version, id = '', text = '', ...rest] = sealed.split('.');
  if (version !== VERSION || rest.length > 0)
    throw new Error('a sealed text has a form this release does not know');
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) {
    throw new Error('a sealed text is damaged');
  }
  return { id, bytes };
}

function associated(id: string, context: string): Buffer {
  return Buffer.from(`${VERSION}.${id}.${context}`);
}
