import type { Clock } from '../../../lib/clock.ts';
import type { Secret } from '../../../lib/secret.ts';
import type { VaultKeys } from '../keys/vault-keys.ts';
import type { CredentialSealer } from '../sealing.ts';
import type { DataKeyStore } from '../store/data-keys.ts';
import type { VaultStore } from '../store/vaults.ts';

/** The vault of the secrets of the service itself. */
const SERVICE_VAULT_ID = 'service';
/** Its secrets are replaced and not changed. */
const GENERATION = 1;

/** Secret members that are sealed for one row. */
export interface SealedMembers {
  sealed: Buffer;
  /** The generation of the data key of the vault of the service. */
  keyGeneration: number;
}

interface ServiceSecretsContext {
  sealer: CredentialSealer;
  keys: Pick<VaultKeys, 'open'>;
  dataKeys: Pick<DataKeyStore, 'find'>;
  vaults: Pick<VaultStore, 'addServiceVault'>;
  clock: Clock;
}

export type ServiceSecrets = ReturnType<typeof createServiceSecrets>;

/** Seals secrets of the service itself. A secret opens for the row for which it was sealed, and for no other one. */
export function createServiceSecrets({ sealer, keys, dataKeys, vaults, clock }: ServiceSecretsContext) {
  let hasVault = false;

  return {
    /** Refused with VAULT_SEALED. */
    async seal(rowId: string, members: Readonly<Record<string, Secret>>): Promise<SealedMembers> {
      if (!hasVault) await vaults.addServiceVault(SERVICE_VAULT_ID, clock.now());
      hasVault = true;
      const owner = { vaultId: SERVICE_VAULT_ID, credentialId: rowId, generation: GENERATION };
      const { sealed, keyGeneration } = await sealer.seal(owner, { members, described: undefined });
      return { sealed, keyGeneration };
    },

    /** Refused with VAULT_SEALED. */
    async open(rowId: string, { sealed, keyGeneration }: SealedMembers): Promise<Record<string, Secret>> {
      const key = await dataKeys.find(SERVICE_VAULT_ID, keyGeneration);
      if (!key) throw new Error(`the vault of the service has no data key ${keyGeneration}`);
      return keys.open(key, { credentialId: rowId, generation: GENERATION }, sealed);
    },
  };
}
