import { refuse } from '../../../lib/errors.ts';
import type { Call } from '../../../lib/grpc/contract.ts';
import type { Secret } from '../../../lib/secret.ts';
import { type Credential, credentialNotFound } from '../domain/credential.ts';
import { type Vault, vaultNotFound } from '../domain/vault.ts';
import type { SealedCredential } from '../oauth/fresh-secrets.ts';
import type { CredentialAddress } from '../store/credentials.ts';
import type { VaultsHandlerContext } from './context.ts';

type FinderContext = Pick<VaultsHandlerContext, 'vaults' | 'credentials' | 'opener'>;

/** A change of the secret between two reads is rare. */
const MAX_ATTEMPTS = 5;

/** Returns functions that find a vault and a credential of a request. */
export function createFinders({ vaults, credentials, opener }: FinderContext) {
  /** Refused with VAULT_NOT_FOUND. */
  async function findVault(vaultId: string, call: Call): Promise<Vault> {
    const vault = await vaults.vault(vaultId, call);
    if (!vault) throw vaultNotFound();
    return vault;
  }

  /** Refused with VAULT_NOT_FOUND or CREDENTIAL_NOT_FOUND. */
  async function findCredential(address: CredentialAddress, call: Call): Promise<Credential> {
    const credential = await credentials.credential(address, call);
    if (credential) return credential;
    await findVault(address.vaultId, call);
    throw credentialNotFound();
  }

  /** Returns a credential with its sealed secret. Refused with CREDENTIAL_NOT_FOUND. */
  async function findSealed(address: CredentialAddress, call: Call): Promise<SealedCredential> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const credential = await credentials.credential(address, call);
      const stored = credential && (await credentials.secret(address, call));
      if (!stored) throw credentialNotFound();
      const { key, generation, sealed } = stored;
      if (credential.generation === generation) return { ...credential, key, sealed };
    }
    throw changing();
  }

  /**
   * Opens the secret of a credential, with a usable access token. Undefined: it needs a new authorization. Refused with
   * CREDENTIAL_NOT_FOUND, VAULT_SEALED and DEPENDENCY_UNAVAILABLE.
   */
  async function openSecret(
    address: CredentialAddress,
    call: Call,
  ): Promise<Record<string, Secret> | undefined> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const fresh = await opener.open(await findSealed(address, call), call);
      if (fresh.kind === 'opened') return fresh.secrets;
      if (fresh.kind === 'ended') return undefined;
    }
    throw changing();
  }

  return { findVault, findCredential, findSealed, openSecret };
}

function changing() {
  return refuse('DEPENDENCY_UNAVAILABLE', 'The credential changes too often to be used. Try again.', {
    retryAfterSeconds: 1,
  });
}
