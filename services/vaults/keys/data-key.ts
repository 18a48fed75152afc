import { createHmac, randomFillSync, timingSafeEqual } from 'node:crypto';
import { decrypt, encrypt, KEY_BYTES } from '../../../lib/aead.ts';

const VERSION = 1;
const MAC_KEY_AT = 1 + KEY_BYTES;
const CHECK_AT = MAC_KEY_AT + KEY_BYTES;
const PLAINTEXT_BYTES = CHECK_AT + 32;

/** The vault and the generation of a data key. A wrapped key does not decode in another context. */
export interface DataKeyContext {
  vaultId: string;
  generation: number;
}

/**
 * The keys of one vault and generation: the encryption key of its credentials, and the MAC key of the vault, which every
 * generation has.
 */
export class DataKey {
  readonly #encryptionKey = Buffer.alloc(KEY_BYTES);
  readonly #macKey = Buffer.alloc(KEY_BYTES);
  #isDestroyed = false;

  /** Creates a random key with the MAC key of `previous`, or with a new one. */
  static create(previous?: DataKey): DataKey {
    const key = new DataKey();
    randomFillSync(key.#encryptionKey);
    if (previous) previous.#usable().#macKey.copy(key.#macKey);
    else randomFillSync(key.#macKey);
    return key;
  }

  /** Decodes and then zeroes a plaintext. Throws for another context and for bytes that `encode` did not return. */
  static decode(plaintext: Buffer, context: DataKeyContext): DataKey {
    const key = new DataKey();
    key.#encryptionKey.set(plaintext.subarray(1, MAC_KEY_AT));
    key.#macKey.set(plaintext.subarray(MAC_KEY_AT, CHECK_AT));
    const isKnown = plaintext.length === PLAINTEXT_BYTES && plaintext[0] === VERSION;
    const isValid = isKnown && timingSafeEqual(plaintext.subarray(CHECK_AT), key.#checkValue(context));
    plaintext.fill(0);
    if (isValid) return key;
    key.destroy();
    throw new Error('an unwrapped data key is damaged or belongs to another vault or generation');
  }

  /** Returns the plaintext for the key-encryption key: version, encryption key, MAC key and check value. */
  encode(context: DataKeyContext): Buffer {
    const plaintext = Buffer.alloc(PLAINTEXT_BYTES);
    plaintext[0] = VERSION;
    this.#usable().#encryptionKey.copy(plaintext, 1);
    this.#macKey.copy(plaintext, MAC_KEY_AT);
    this.#checkValue(context).copy(plaintext, CHECK_AT);
    return plaintext;
  }

  encrypt(plaintext: Buffer, associatedData: string): Buffer {
    return encrypt(this.#usable().#encryptionKey, plaintext, associatedData);
  }

  /** Throws for changed bytes and for other associated data. */
  decrypt(box: Buffer, associatedData: string): Buffer {
    return decrypt(this.#usable().#encryptionKey, box, associatedData);
  }

  /** Returns a keyed digest. Digests of different purposes are independent. */
  mac(purpose: string, text: string): Buffer {
    return createHmac('sha256', this.#usable().#macKey).update(`${purpose}|${text}`).digest();
  }

  equals(other: DataKey): boolean {
    return (
      timingSafeEqual(this.#usable().#encryptionKey, other.#usable().#encryptionKey) &&
      timingSafeEqual(this.#macKey, other.#macKey)
    );
  }

  /** Overwrites the keys with zeros. Every later use throws. */
  destroy(): void {
    this.#isDestroyed = true;
    this.#encryptionKey.fill(0);
    this.#macKey.fill(0);
  }

  #usable(): this {
    if (this.#isDestroyed) throw new Error('a data key was used after it was destroyed');
    return this;
  }

  #checkValue({ vaultId, generation }: DataKeyContext): Buffer {
    const mac = createHmac('sha256', this.#encryptionKey);
    return mac.update(`vault data key|${vaultId}|${generation}|`).update(this.#macKey).digest();
  }
}
