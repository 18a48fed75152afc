import type {
  Credential,
  CredentialPublic,
  TestCredentialResponse,
} from '../../../proto/gen/ahs/vaults/v1/vaults.ts';
import { serializeTime, serializeTimeOrNull } from '../common.ts';
import type { CredentialCreation } from './credentials.ts';

const SECRET_MEMBERS = [
  ...(['token', 'value', 'password', 'key'] as const),
  ...(['refresh_token', 'client_secret', 'access_token'] as const),
] as const;

/** Returns the secret members of a body; undefined when it has none. */
export function secretMembersOf(body: Partial<Record<(typeof SECRET_MEMBERS)[number], string>>) {
  const members = SECRET_MEMBERS.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]]));
  return members.length === 0 ? undefined : (Object.fromEntries(members) as Record<string, string>);
}

/** Converts the public members of a new credential. */
export function publicMembersOf(body: CredentialCreation): CredentialPublic | undefined {
  switch (body.type) {
    case 'bearer':
      return undefined;
    case 'header':
      return { of: { $case: 'header', value: { name: body.name } } };
    case 'basic':
      return { of: { $case: 'basic', value: { username: body.username } } };
    case 'model_key':
      return { of: { $case: 'modelKey', value: { provider: body.provider } } };
    case 'oauth2':
    case 'oauth2_client': {
      const clientAuthentication = body.client_secret === undefined ? 'none' : 'client_secret_basic';
      const issuer = { issuer: '', revocationEndpoint: '', clientAuthentication };
      const { token_endpoint, client_id, scopes: requested = [], resource: target = '' } = body;
      const members = { tokenEndpoint: token_endpoint, clientId: client_id, scopes: requested };
      return { of: { $case: 'oauth', value: { ...members, resource: target, ...issuer } } };
    }
    case 'environment_variable': {
      const { headers = ['authorization'], basic = true, query = [] } = body.inject ?? {};
      const value = {
        name: body.name,
        inject: { headers, basic, query },
        methods: body.methods ?? [],
        pathPrefixes: body.path_prefixes ?? [],
        placeholderPrefix: body.placeholder_prefix ?? '',
      };
      return { of: { $case: 'environmentVariable', value } };
    }
  }
}

function serializePublic(shown: CredentialPublic | undefined) {
  const of = shown?.of;
  switch (of?.$case) {
    case 'header':
      return { name: of.value.name };
    case 'basic':
      return { username: of.value.username };
    case 'modelKey':
      return { provider: of.value.provider };
    case 'oauth':
      return {
        token_endpoint: of.value.tokenEndpoint,
        client_id: of.value.clientId,
        scopes: of.value.scopes,
        ...(of.value.resource !== '' && { resource: of.value.resource }),
      };
    case 'environmentVariable': {
      const { name, inject, methods, pathPrefixes, placeholderPrefix } = of.value;
      const { headers = [], basic = false, query = [] } = inject ?? {};
      return {
        name,
        inject: { headers, basic, query },
        methods,
        path_prefixes: pathPrefixes,
        placeholder_prefix: placeholderPrefix,
      };
    }
    default:
      return {};
  }
}

export function serializeCredential(credential: Credential | undefined) {
  return {
    credential_id: credential?.credentialId,
    vault_id: credential?.vaultId,
    label: credential?.label,
    type: credential?.type,
    enabled: credential?.enabled,
    mcp_server_url: credential?.mcpServerUrl || null,
    hosts: credential?.hosts,
    auth: serializePublic(credential?.public),
    fingerprint: credential?.fingerprint,
    last_four: credential?.lastFour || null,
    scopes: credential?.scopes,
    status: credential?.status,
    status_reason: credential?.statusReason || null,
    expires_at: serializeTimeOrNull(credential?.expiresAt),
    last_used_at: serializeTimeOrNull(credential?.lastUsedAt),
    last_refreshed_at: serializeTimeOrNull(credential?.lastRefreshedAt),
    revision: credential?.revision,
    created_by: credential?.createdBy,
    created_at: serializeTime(credential?.createdAt),
    updated_at: serializeTime(credential?.updatedAt),
  };
}

export function serializeCredentialTest({ status, httpStatus, detail, checkedAt }: TestCredentialResponse) {
  return { status, http_status: httpStatus ?? null, detail, checked_at: serializeTime(checkedAt) };
}
