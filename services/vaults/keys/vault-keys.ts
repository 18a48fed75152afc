import { createHash } from 'node:crypto';
import type { Clock } from '../../../lib/clock.ts';
import { Refusal, refuse } from '../../../lib/errors.ts';
import type { Secret } from '../../../lib/secret.ts';
import { decodeSecretJson, encodeSecretJson, secretMembers } from '../../../lib/secret-json.ts';
import { DataKey, type DataKeyContext } from './data-key.ts';
import { DataKeyCache } from './data-key-cache.ts';
import { fingerprintOf, lastFourOf } from './fingerprint.ts';
import type { KeyEncryption, WrappedText } from './kek.ts';
import { placeholderOf } from './placeholder.ts';

/** A data key as the table `data_keys` stores it. */
export interface WrappedKey extends DataKeyContext {
  /** The generations of a vault begin with 1. */
  generation: number;
  wrapped: Buffer;
  kekId: string;
  kekAnnotations: Record<string, string>;
}

/** A credential and the generation of its secret. A sealed secret opens for these values alone. */
export interface CredentialSecret {
  credentialId: string;
  generation: number;
}

/** The parts of a secret that its owner may see. */
export interface SecretDescription {
  /** 12 hexadecimal digits. Equal secrets of one vault have equal fingerprints, also after a rotation of its data key. */
  fingerprint: string;
  /** Undefined for a secret of less than 20 characters. */
  lastFour: string | undefined;
}

interface VaultKeysOptions {
  /** The first one wraps new data keys; all of them unwrap. */
  keyEncryptions: readonly [KeyEncryption, ...KeyEncryption[]];
  clock: Clock;
}

/**
 * Seals the secrets of credentials under the data keys of their vaults. A data key or secret that cannot be opened is
 * refused with VAULT_SEALED; other vaults and credentials are not affected.
 */
export class VaultKeys {
  readonly #keyEncryptions: VaultKeysOptions['keyEncryptions'];
  readonly #cache: DataKeyCache;

  constructor({ keyEncryptions, clock }: VaultKeysOptions) {
    this.#keyEncryptions = keyEncryptions;
    this.#cache = new DataKeyCache(clock);
  }

  /** Returns the id of the key-encryption key that wraps data keys now. */
  async currentKekId(): Promise<string> {
    try {
      return await this.#keyEncryptions[0].currentId();
    } catch (cause) {
      throw cannotWrap(cause);
    }
  }

  /** Returns the first data key of a vault. */
  create(vaultId: string): Promise<WrappedKey> {
    return this.#wrap(DataKey.create(), { vaultId, generation: 1 });
  }

  /** Returns the data key of the next generation. Fingerprints stay the same. */
  async createNext(latest: WrappedKey): Promise<WrappedKey> {
    const next = await this.#use(latest, (key) => DataKey.create(key));
    return this.#wrap(next, { vaultId: latest.vaultId, generation: latest.generation + 1 });
  }

  /** Returns the same data key, wrapped with the current key-encryption key. */
  async rewrap(key: WrappedKey): Promise<WrappedKey> {
    const { vaultId, generation } = key;
    const copy = await this.#use(key, (opened) => DataKey.decode(opened.encode(key), key));
    return this.#wrap(copy, { vaultId, generation });
  }

  /** Returns the sealed secret members of a credential. */
  seal(
    key: WrappedKey,
    credential: CredentialSecret,
    secrets: Readonly<Record<string, Secret>>,
  ): Promise<Buffer> {
    return this.#use(key, (opened) => {
      const plaintext = encodeSecretJson(secrets);
      const sealed = opened.encrypt(plaintext, associated(key, credential));
      plaintext.fill(0);
      return sealed;
    });
  }

  /** Returns the secret members that `seal` got for the same credential, generation and data key. */
  open(key: WrappedKey, credential: CredentialSecret, sealed: Buffer): Promise<Record<string, Secret>> {
    return this.#use(key, (opened) => {
      try {
        const plaintext = opened.decrypt(sealed, associated(key, credential));
        const secrets = secretMembers(decodeSecretJson(plaintext));
        plaintext.fill(0);
        return secrets;
      } catch (cause) {
        throw secretSealed(credential.credentialId, cause);
      }
    });
  }

  describe(key: WrappedKey, secret: Secret): Promise<SecretDescription> {
    return this.#use(key, (opened) => ({
      fingerprint: fingerprintOf(opened, secret),
      lastFour: lastFourOf(secret),
    }));
  }

  /**
   * Returns 32 hexadecimal digits that only the vault's MAC key reproduces, and that stay the same after a rotation of its
   * data key.
   */
  placeholder(key: WrappedKey, sessionId: string, credentialId: string): Promise<string> {
    return this.#use(key, (opened) => placeholderOf(opened, sessionId, credentialId));
  }

  /** Whether a data key can be opened now. */
  async canOpen(key: WrappedKey): Promise<boolean> {
    try {
      await this.#use(key, () => undefined);
      return true;
    } catch (error) {
      if (error instanceof Refusal && error.code === 'VAULT_SEALED') return false;
      throw error;
    }
  }

  /** Rejects unless data keys can be wrapped and unwrapped now. */
  async check(): Promise<void> {
    for (const keyEncryption of this.#keyEncryptions) await keyEncryption.check();
  }

  /** Overwrites all data keys in memory. */
  close(): void {
    this.#cache.clear();
    for (const keyEncryption of this.#keyEncryptions) keyEncryption.close();
  }

  /** Wraps and destroys a key. The result has been unwrapped once, because a key that does not open loses secrets. */
  async #wrap(key: DataKey, context: DataKeyContext): Promise<WrappedKey> {
    const plaintext = key.encode(context);
    try {
      const { bytes, kekId, annotations } = await this.#keyEncryptions[0].wrap(plaintext, textOf(context));
      const wrapped = { ...context, wrapped: bytes, kekId, kekAnnotations: annotations };
      const isSame = await this.#use(wrapped, (unwrapped) => unwrapped.equals(key));
      if (!isSame) throw new Error('the key-encryption key unwraps another data key than it wrapped');
      return wrapped;
    } catch (cause) {
      throw cannotWrap(cause);
    } finally {
      plaintext.fill(0);
      key.destroy();
    }
  }

  #use<Result>(wrapped: WrappedKey, work: (key: DataKey) => Result): Promise<Result> {
    return this.#cache.use(cacheIdOf(wrapped), () => this.#unwrap(wrapped), work);
  }

  async #unwrap(key: WrappedKey): Promise<DataKey> {
    try {
      const { kekId } = key;
      const keyEncryption = this.#keyEncryptions.find((one) => one.knows(kekId));
      if (!keyEncryption) throw new Error(`the key-encryption key ${kekId} is not configured`);
      return DataKey.decode(await keyEncryption.unwrap(wrappedTextOf(key), textOf(key)), key);
    } catch (cause) {
      throw vaultSealed(key.vaultId, cause);
    }
  }
}

function wrappedTextOf({ wrapped, kekId, kekAnnotations }: WrappedKey): WrappedText {
  return { bytes: wrapped, kekId, annotations: kekAnnotations };
}

function textOf({ vaultId, generation }: DataKeyContext): string {
  return `${vaultId}|${generation}`;
}

/** A cached key serves no row with other bytes. */
function cacheIdOf(key: WrappedKey): string {
  const { wrapped, kekId, kekAnnotations } = key;
  const digest = createHash('sha256')
    .update(wrapped)
    .update(JSON.stringify([kekId, kekAnnotations]));
  return `${textOf(key)}|${digest.digest('base64')}`;
}

function associated(key: WrappedKey, { credentialId, generation }: CredentialSecret): string {
  return `${key.vaultId}|${credentialId}|${generation}|${key.generation}`;
}

function vaultSealed(vaultId: string, cause: unknown): Refusal {
  return refuse('VAULT_SEALED', `The key of the vault ${vaultId} cannot be opened now.`, { cause });
}

function secretSealed(credentialId: string, cause: unknown): Refusal {
  const message = `The secret of the credential ${credentialId} cannot be opened. Store it again.`;
  return refuse('VAULT_SEALED', message, { cause });
}

function cannotWrap(cause: unknown): Refusal {
  return refuse('VAULT_SEALED', 'The key-encryption key cannot be used now.', { cause });
}
