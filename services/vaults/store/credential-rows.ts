import { type Credential, PUBLIC_KINDS, type PublicMembers } from '../domain/credential.ts';

/** The columns of a credential `c`, without its sealed secret. */
export const CREDENTIAL_COLUMNS = `c.credential_id as "credentialId", c.vault_id as "vaultId", c.type, c.label, c.enabled,
  coalesce(c.mcp_server_url, '') as "mcpServerUrl", c.hosts, c.public as "publicJson", c.generation, c.fingerprint,
  c.last_four as "lastFour", c.status, c.status_reason as "statusReason", c.scopes, c.expires_at as "expiresAt",
  c.last_used_at as "lastUsedAt", c.last_refreshed_at as "lastRefreshedAt", c.revision, c.created_by as "createdBy", c.created_at as "createdAt",
  c.updated_at as "updatedAt"`;

export type CredentialRow = Omit<
  Credential,
  'publicMembers' | 'expiresAt' | 'lastUsedAt' | 'lastRefreshedAt'
> & {
  /** The public members of the type; an empty object for a bearer token. */
  publicJson: object;
  expiresAt: Date | null;
  lastUsedAt: Date | null;
  lastRefreshedAt: Date | null;
};

export function credentialFromRow(row: CredentialRow): Credential {
  const { publicJson, expiresAt, lastUsedAt, lastRefreshedAt, ...members } = row;
  const kind = PUBLIC_KINDS[row.type];
  const publicMembers = kind && ({ $case: kind, value: publicJson } as PublicMembers);
  return {
    ...members,
    publicMembers,
    expiresAt: expiresAt ?? undefined,
    lastUsedAt: lastUsedAt ?? undefined,
    lastRefreshedAt: lastRefreshedAt ?? undefined,
  };
}
