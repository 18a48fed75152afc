import { type Refusal, refuse } from '../../../lib/errors.ts';
import type { Secret } from '../../../lib/secret.ts';
import type { OAuthMembers } from './oauth.ts';

/** The secret members of each type. The first one is required, and describes the credential. */
export const SECRET_MEMBERS = {
  bearer: ['token'],
  header: ['value'],
  basic: ['password'],
  oauth2: ['refresh_token', 'client_secret', 'access_token'],
  oauth2_client: ['client_secret'],
  environment_variable: ['value'],
  model_key: ['key'],
} as const;

export type CredentialType = keyof typeof SECRET_MEMBERS;

/** The places in requests where the proxy of a sandbox replaces the placeholder of a variable by its value. */
export interface VariableInjection {
  /** Names in lower case. */
  headers: string[];
  basic: boolean;
  /** Members of the query. */
  query: string[];
}

/** The public members of an environment variable. Empty lists do not restrict it. */
export interface VariableMembers {
  name: string;
  inject: VariableInjection;
  methods: string[];
  pathPrefixes: string[];
  placeholderPrefix: string;
}

/** The public members of a type; undefined for a bearer token, which has none. */
export type PublicMembers =
  | { $case: 'header'; value: { name: string } }
  | { $case: 'basic'; value: { username: string } }
  | { $case: 'environmentVariable'; value: VariableMembers }
  | { $case: 'modelKey'; value: { provider: string } }
  | { $case: 'oauth'; value: OAuthMembers }
  | undefined;

/** The kind of public members that each type has. */
export const PUBLIC_KINDS: Record<CredentialType, NonNullable<PublicMembers>['$case'] | undefined> = {
  bearer: undefined,
  header: 'header',
  basic: 'basic',
  oauth2: 'oauth',
  oauth2_client: 'oauth',
  environment_variable: 'environmentVariable',
  model_key: 'modelKey',
};

/** The members of a credential that never change. */
export interface CredentialIdentity {
  type: CredentialType;
  /** Empty for a credential of hosts or of a model provider. */
  mcpServerUrl: string;
  hosts: string[];
  publicMembers: PublicMembers;
}

export interface Credential extends CredentialIdentity {
  credentialId: string;
  vaultId: string;
  label: string;
  enabled: boolean;
  /** Grows with each change of the secret. */
  generation: number;
  fingerprint: string;
  /** Empty for a short secret. */
  lastFour: string;
  status: 'active' | 'needs_connection' | 'refused';
  statusReason: string;
  /** The scopes of the access token, as its issuer granted them. */
  scopes: string[];
  /** The end of the access token. Undefined: unknown, or a type without access tokens. */
  expiresAt: Date | undefined;
  lastUsedAt: Date | undefined;
  lastRefreshedAt: Date | undefined;
  revision: number;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
}

/** The secret members of a credential. */
export interface CredentialSecrets {
  members: Readonly<Record<string, Secret>>;
  /** The one whose fingerprint and last characters describe the credential. Undefined: none does. */
  described: Secret | undefined;
}

/** A secret that is sealed for a credential, with the members that describe it. */
export interface SealedSecret {
  /** The generation of the secret for which it was sealed. */
  generation: number;
  /** The generation of the data key of the vault. */
  keyGeneration: number;
  sealed: Buffer;
  fingerprint: string;
  lastFour: string;
}

/** The changes of a credential. Absent members are undefined and do not change. */
export interface CredentialPatch {
  label: string | undefined;
  enabled: boolean | undefined;
  secret: SealedSecret | undefined;
}

/** At most this many credentials in a vault. */
const MAX_CREDENTIALS = 200;

/** Returns a new credential, which its sealed secret completes. */
export function newCredential(
  identity: CredentialIdentity,
  credentialId: string,
  { vaultId, label, createdBy, expiresAt }: Pick<Credential, 'vaultId' | 'label' | 'createdBy' | 'expiresAt'>,
  now: Date,
): Credential {
  return {
    ...{ credentialId, vaultId, label, enabled: true, generation: 1, fingerprint: '', lastFour: '' },
    ...identity,
    ...{ status: 'active', statusReason: '', scopes: [] },
    ...{ expiresAt, lastUsedAt: undefined, lastRefreshedAt: undefined },
    ...{ revision: 1, createdBy, createdAt: now, updatedAt: now },
  };
}

/** A disabled credential has the status `disabled` for readers, and keeps the status of its secret. */
export function shownStatus({ enabled, status }: Credential): Credential['status'] | 'disabled' {
  return enabled ? status : 'disabled';
}

/** Returns the same credential if the patch changes nothing. A new secret ends every other status. */
export function applyCredentialPatch(credential: Credential, patch: CredentialPatch, now: Date): Credential {
  const { label = credential.label, enabled = credential.enabled, secret } = patch;
  if (!secret && label === credential.label && enabled === credential.enabled) return credential;
  const changed = { ...credential, label, enabled, revision: credential.revision + 1, updatedAt: now };
  if (!secret) return changed;
  const { generation, fingerprint, lastFour } = secret;
  const tokens = { expiresAt: undefined, lastRefreshedAt: undefined };
  return { ...changed, ...tokens, generation, fingerprint, lastFour, status: 'active', statusReason: '' };
}

/** Refused with INVALID_REQUEST for a vault that has the largest number of credentials. */
export function checkCredentialCount(count: number): void {
  if (count < MAX_CREDENTIALS) return;
  throw refuse(
    'INVALID_REQUEST',
    `A vault has at most ${MAX_CREDENTIALS} credentials. Delete one, or create another vault.`,
  );
}

/** Refused with FORBIDDEN: only its owner fills a personal vault, by connecting. */
export function requireShared({ kind }: { kind: string }): void {
  if (kind === 'shared') return;
  throw refuse('FORBIDDEN', 'Only its owner fills a personal vault, by connecting to servers.');
}

export function credentialNotFound(): Refusal {
  return refuse('CREDENTIAL_NOT_FOUND', 'Unknown credential.');
}
