import type { Credential } from './credential.ts';

/** A credential that a turn could use. */
export interface LendableCredential {
  credentialId: string;
  /** False when the credential or its vault is disabled. */
  isUsable: boolean;
  status: Credential['status'];
}

export type CredentialSource = 'shared' | 'personal';

/** Why there is no credential. */
export interface MissingCredential {
  reason:
    | 'none'
    | 'expired'
    | 'refused'
    | 'scope'
    | 'disabled'
    | 'not_connected'
    | 'vault_sealed'
    | 'unavailable';
  /** The credential that cannot be used. Empty: there is none. */
  credentialId: string;
  /** Who can provide the credential. */
  who: 'you' | 'administrator';
  /** The scopes that the server demands, with those that the credential has. Absent for other reasons than `scope`. */
  scopes?: readonly string[];
}

export type CredentialChoice<Candidate> =
  | { kind: 'found'; source: CredentialSource; credential: Candidate }
  | ({ kind: 'missing' } & MissingCredential);

/** The credentials for one MCP server, in the order in which they count. */
export interface Candidates<Candidate> {
  /** Those of the session's owner. */
  personal: readonly Candidate[];
  /** Those of the vaults that are assigned to the agent or assistant. */
  shared: readonly Candidate[];
}

/**
 * Returns the credential that a turn uses for a server with this `authorization`: the first usable one. A refused
 * credential is not replaced by a later one, so that an administrator or user notices it. With `any`, the owner's credential
 * comes first, and a shared one counts only if the owner has none that is usable.
 */
export function chooseCredential<Candidate extends LendableCredential>(
  authorization: string,
  { personal, shared }: Candidates<Candidate>,
): CredentialChoice<Candidate> {
  switch (authorization) {
    case 'personal':
      return firstUsable('personal', personal);
    case 'shared':
      return firstUsable('shared', shared);
    case 'any': {
      const hasPersonal = personal.some(({ isUsable }) => isUsable);
      const hasShared = shared.some(({ isUsable }) => isUsable);
      return hasShared && !hasPersonal ? firstUsable('shared', shared) : firstUsable('personal', personal);
    }
    default:
      return { kind: 'missing', ...NOTHING_SHARED };
  }
}

/**
 * Returns the credential for a host, a variable or a model provider: the first usable one of the assigned vaults. A refused
 * one is not replaced by a later one.
 */
export function chooseShared<Candidate extends LendableCredential>(
  candidates: readonly Candidate[],
): CredentialChoice<Candidate> {
  return firstUsable('shared', candidates);
}

function firstUsable<Candidate extends LendableCredential>(
  source: CredentialSource,
  candidates: readonly Candidate[],
): CredentialChoice<Candidate> {
  const credential = candidates.find(({ isUsable }) => isUsable);
  if (!credential) {
    const [first] = candidates;
    const missing = source === 'shared' ? NOTHING_SHARED : NOT_CONNECTED;
    if (!first) return { kind: 'missing', ...missing };
    const { credentialId } = first;
    return { kind: 'missing', reason: 'disabled', credentialId, who: 'administrator' };
  }
  switch (credential.status) {
    case 'refused':
      return { kind: 'missing', ...missingFor('refused', credential, source) };
    case 'needs_connection':
      return { kind: 'missing', ...missingFor('expired', credential, source) };
    case 'active':
      return { kind: 'found', source, credential };
  }
}

/** Why a chosen credential cannot be used: its owner, or an administrator for a shared one, can change that. */
export function missingFor(
  reason: MissingCredential['reason'],
  { credentialId }: Pick<LendableCredential, 'credentialId'>,
  source: CredentialSource,
): MissingCredential {
  return { reason, credentialId, who: source === 'personal' ? 'you' : 'administrator' };
}

/** A credential whose secret cannot be opened now. */
export function sealedCredential({
  credentialId,
}: Pick<LendableCredential, 'credentialId'>): MissingCredential {
  return { reason: 'vault_sealed', credentialId, who: 'administrator' };
}

/** There is no credential in the assigned vaults. */
export function isAbsent(choice: CredentialChoice<unknown>): boolean {
  return choice.kind === 'missing' && choice.reason === 'none';
}

/** The server itself is disabled, so no credential is lent for it. */
export const DISABLED_SERVER: MissingCredential = {
  reason: 'disabled',
  credentialId: '',
  who: 'administrator',
};

export const NOTHING_SHARED: MissingCredential = { reason: 'none', credentialId: '', who: 'administrator' };
const NOT_CONNECTED: MissingCredential = { reason: 'not_connected', credentialId: '', who: 'you' };
