import type { Clock } from '../../../lib/clock.ts';
import { refuse } from '../../../lib/errors.ts';
import type { CallOptions } from '../../../lib/grpc/contract.ts';
import type { Secret } from '../../../lib/secret.ts';
import type { Credential } from '../domain/credential.ts';
import { hasExpired, isRefreshDue } from '../domain/oauth.ts';
import type { VaultKeys, WrappedKey } from '../keys/vault-keys.ts';
import type { RefreshOutcome, TokenRefresher } from './token-refresher.ts';

/** A credential with its sealed secret and the data key that opens it. */
export interface SealedCredential extends Credential {
  key: WrappedKey;
  sealed: Buffer;
}

/**
 * `opened`: the secret can be used. `changed`: the credential has a newer access token and has to be read again. `ended`: it
 * needs a new authorization.
 */
export type FreshSecrets =
  | { kind: 'opened'; secrets: Record<string, Secret> }
  | { kind: 'changed' }
  | { kind: 'ended' };

interface SecretOpenerContext {
  keys: Pick<VaultKeys, 'open'>;
  refresher: TokenRefresher;
  clock: Clock;
}

export type SecretOpener = ReturnType<typeof createSecretOpener>;

/** Opens secrets, and refreshes access tokens that end soon. */
export function createSecretOpener({ keys, refresher, clock }: SecretOpenerContext) {
  async function stateOf(
    credential: SealedCredential,
    secrets: Readonly<Record<string, Secret>>,
    call: CallOptions,
  ): Promise<'opened' | 'changed' | 'ended'> {
    const { credentialId, publicMembers, type } = credential;
    if (publicMembers?.$case !== 'oauth') return 'opened';
    const now = clock.now();
    const isValid = secrets.access_token !== undefined && !hasExpired(credential, now);
    const isRefreshable = type === 'oauth2_client' || secrets.refresh_token !== undefined;
    if (isValid && !(isRefreshable && isRefreshDue(credential, now))) return 'opened';
    const outcome = await refresher.refresh({ credential, oauth: publicMembers.value, secrets }, call);
    if (outcome === 'refreshed') return 'changed';
    if (outcome === 'ended') return 'ended';
    if (isValid) return 'opened';
    throw refuse(
      'DEPENDENCY_UNAVAILABLE',
      `The issuer of the credential ${credentialId} gives no token now.`,
    );
  }

  return {
    /**
     * Returns the secret members. Refused with VAULT_SEALED, and DEPENDENCY_UNAVAILABLE if an access token has ended and its
     * issuer gives no other one now.
     */
    async open(credential: SealedCredential, call: CallOptions): Promise<FreshSecrets> {
      const secrets = await keys.open(credential.key, credential, credential.sealed);
      const kind = await stateOf(credential, secrets, call);
      return kind === 'opened' ? { kind, secrets } : { kind };
    },

    /** Replaces the access token of a credential whose server or issuer is asked again. */
    async refresh(credential: SealedCredential, call: CallOptions): Promise<RefreshOutcome> {
      const { publicMembers, key, sealed } = credential;
      if (publicMembers?.$case !== 'oauth') throw new Error('the credential has no access token');
      const secrets = await keys.open(key, credential, sealed);
      return refresher.refresh({ credential, oauth: publicMembers.value, secrets }, call);
    },
  };
}
