import type { Credential, CredentialTest } from '../../gen/index.ts';
import type { Tone } from '../../ui/badge.tsx';

export type CredentialType = Credential['type'];

export const TYPE_LABELS: Record<CredentialType, string> = {
  bearer: 'Bearer token',
  header: 'Header',
  basic: 'User name and password',
  oauth2: 'OAuth tokens',
  oauth2_client: 'OAuth client',
  environment_variable: 'Environment variable',
  model_key: 'Model key',
};

export const TYPE_OPTIONS: readonly { value: CredentialType; text: string; about: string }[] = [
  {
    value: 'bearer',
    text: TYPE_LABELS.bearer,
    about: 'Sent in the header Authorization to an MCP server or a host.',
  },
  { value: 'header', text: TYPE_LABELS.header, about: 'Sent in a header of your choice.' },
  { value: 'basic', text: TYPE_LABELS.basic, about: 'Basic authentication.' },
  {
    value: 'oauth2',
    text: TYPE_LABELS.oauth2,
    about: 'A refresh token, from which access tokens are requested.',
  },
  {
    value: 'oauth2_client',
    text: TYPE_LABELS.oauth2_client,
    about: 'A client that requests access tokens for itself (client credentials).',
  },
  {
    value: 'environment_variable',
    text: TYPE_LABELS.environment_variable,
    about: 'Commands see a placeholder, which is replaced on the way to the allowed hosts.',
  },
  { value: 'model_key', text: TYPE_LABELS.model_key, about: 'Replaces the key of the operator.' },
];

/** The secret member of each type and its label. */
export const SECRETS = {
  bearer: { member: 'token', label: 'Token' },
  header: { member: 'value', label: 'Value' },
  basic: { member: 'password', label: 'Password' },
  oauth2: { member: 'refresh_token', label: 'Refresh token' },
  oauth2_client: { member: 'client_secret', label: 'Client secret' },
  environment_variable: { member: 'value', label: 'Value' },
  model_key: { member: 'key', label: 'Key' },
} as const satisfies Record<CredentialType, { member: string; label: string }>;

/** The words of badges are those of `status`. */
export const STATUS_TONES: Record<Credential['status'], Tone> = {
  active: 'good',
  needs_connection: 'warn',
  refused: 'bad',
  disabled: 'plain',
};

export const TEST_TEXTS: Record<CredentialTest['status'], string> = {
  valid: 'The server accepts the credential.',
  refused: 'The server refuses the credential.',
  unreachable: 'The server cannot be reached.',
  unknown: 'The secret can be decrypted. Its type has no check with a server.',
};

/** Returns where a credential is used: the MCP server, the hosts or the model provider. */
export function destinationOf({ mcp_server_url: url, hosts, auth }: Credential): string {
  return url ?? (hosts.length > 0 ? hosts.join(', ') : (auth.provider ?? ''));
}

/** Returns the label of a credential, or the name by which users recognise it. */
export function nameOf(credential: Credential): string {
  const { label, auth, type } = credential;
  return label || auth.name || auth.username || auth.provider || TYPE_LABELS[type];
}
