import type { CreateCredentialData } from '../../gen/index.ts';
import type { FieldProblems } from '../../parts/editor/problems.ts';
import type { CredentialType } from './labels.ts';
import { SECRETS } from './labels.ts';

/** The public members of a new credential. */
export interface CredentialDraft {
  type: CredentialType;
  label: string;
  destination: 'server' | 'host';
  url: string;
  host: string;
  name: string;
  username: string;
  provider: string;
  tokenEndpoint: string;
  clientId: string;
  /** Separated by spaces. */
  scopes: string;
  resource: string;
  /** One host per line. */
  hosts: string;
  placeholderPrefix: string;
}

export const EMPTY_CREDENTIAL_DRAFT: CredentialDraft = {
  type: 'bearer',
  label: '',
  destination: 'server',
  url: '',
  host: '',
  name: '',
  username: '',
  provider: '',
  tokenEndpoint: '',
  clientId: '',
  scopes: '',
  resource: '',
  hosts: '',
  placeholderPrefix: '',
};

/** Returns the body without its secret, and the problems of the draft. */
export function readCredentialDraft(draft: CredentialDraft) {
  const problems: FieldProblems = {};
  const required = (pointer: string, text: string, what: string) => {
    const trimmed = text.trim();
    if (trimmed === '') problems[pointer] = `Enter ${what}.`;
    return trimmed;
  };
  const destination = () =>
    draft.destination === 'server'
      ? { mcp_server_url: required('/mcp_server_url', draft.url, 'the URL of the MCP server') }
      : { host: required('/host', draft.host, 'a host') };
  const oauth = () => {
    const scopes = draft.scopes.split(/\s+/).filter(Boolean);
    const resource = draft.resource.trim();
    return {
      ...destination(),
      token_endpoint: required('/token_endpoint', draft.tokenEndpoint, 'the URL of the token endpoint'),
      client_id: required('/client_id', draft.clientId, 'the client id'),
      ...(scopes.length > 0 && { scopes }),
      ...(resource && { resource }),
    };
  };
  const membersOf = {
    oauth2: oauth,
    oauth2_client: oauth,
    bearer: () => destination(),
    header: () => ({ ...destination(), name: required('/name', draft.name, 'the name of the header') }),
    basic: () => ({ ...destination(), username: required('/username', draft.username, 'a user name') }),
    environment_variable: () => ({
      name: required('/name', draft.name, 'the name of the variable'),
      allowed_hosts: required('/allowed_hosts', draft.hosts, 'at least one host')
        .split(/[\s,]+/)
        .filter(Boolean),
      ...(draft.placeholderPrefix.trim() && { placeholder_prefix: draft.placeholderPrefix.trim() }),
    }),
    model_key: () => ({ provider: required('/provider', draft.provider, 'the model provider') }),
  };
  const { type } = draft;
  const body = { type, label: draft.label.trim(), ...membersOf[type]() };
  return { body, problems };
}

/** Adds the secrets to a body that `readCredentialDraft` has returned. An empty client secret is left out. */
export function withSecret(
  body: ReturnType<typeof readCredentialDraft>['body'],
  secret: string,
  clientSecret = '',
): CreateCredentialData['body'] {
  const secrets = {
    ...(clientSecret && { client_secret: clientSecret }),
    [SECRETS[body.type].member]: secret,
  };
  return { ...body, ...secrets } as CreateCredentialData['body'];
}
