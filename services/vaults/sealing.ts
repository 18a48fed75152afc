import type { Clock } from '../../lib/clock.ts';
import type { CredentialSecrets, SealedSecret } from './domain/credential.ts';
import { vaultNotFound } from './domain/vault.ts';
import type { VaultKeys, WrappedKey } from './keys/vault-keys.ts';
import type { DataKeyStore } from './store/data-keys.ts';

/** A credential whose secret is to be sealed. */
interface SecretOwner {
  vaultId: string;
  credentialId: string;
  /** The generation of the secret. */
  generation: number;
}

export type CredentialSealer = ReturnType<typeof createCredentialSealer>;

/** Seals the secrets of credentials with the newest data keys of their vaults. */
export function createCredentialSealer(
  keys: Pick<VaultKeys, 'create' | 'seal' | 'describe'>,
  dataKeys: DataKeyStore,
  clock: Clock,
) {
  /** Returns the newest data key of a vault, which gets its first one when it gets its first credential. */
  async function keyOf(vaultId: string): Promise<WrappedKey> {
    const known = await dataKeys.newest(vaultId);
    if (known) return known;
    await dataKeys.add(await keys.create(vaultId), clock.now());
    // A concurrent creation may have added another key, and a deletion may have removed the vault.
    const added = await dataKeys.newest(vaultId);
    if (!added) throw vaultNotFound();
    return added;
  }

  return {
    /** Refused with VAULT_SEALED when the key of the vault cannot be opened, and VAULT_NOT_FOUND for a deleted vault. */
    async seal(
      { vaultId, credentialId, generation }: SecretOwner,
      { members, described }: CredentialSecrets,
    ): Promise<SealedSecret> {
      const key = await keyOf(vaultId);
      const sealed = await keys.seal(key, { credentialId, generation }, members);
      const { fingerprint, lastFour = '' } = described
        ? await keys.describe(key, described)
        : { fingerprint: '' };
      return { generation, keyGeneration: key.generation, sealed, fingerprint, lastFour };
    },
  };
}
