import { type Static, type TProperties, Type } from 'typebox';
import { closed, flag, id, NULL, nullable, optional, revision, text, time } from '../common.ts';
import { vaultId } from './vaults.ts';

const MAX_SECRET = 16 * 1024;

const secret = text('A secret of at most 16 KiB. No response contains it.', {
  title: 'SecretText',
  minLength: 1,
  maxLength: MAX_SECRET,
  format: 'password',
  writeOnly: true,
});
const label = text('A label for administrators.', { maxLength: 200, examples: ['Production'] });
const enabled = flag('Whether the credential is used.');
const url = text('The URL of the MCP server that gets the credential.', {
  maxLength: 2_048,
  examples: ['https://mcp.example.com/mcp'],
});
const host = text(
  'A host that commands of sandboxes reach, as in the allow list of an environment. Exactly one of `host` and `mcp_server_url` is required.',
  { maxLength: 300, examples: ['api.example.com'] },
);
const headerName = text('The name of the header.', { minLength: 1, maxLength: 128, examples: ['X-Api-Key'] });
const username = text('The user name.', { maxLength: 256, examples: ['deploy'] });
const provider = text('The part of `model` before the slash.', {
  minLength: 1,
  maxLength: 64,
  examples: ['anthropic'],
});
const variableName = text('The name of the environment variable.', {
  minLength: 1,
  maxLength: 128,
  examples: ['GITHUB_TOKEN'],
});
const hosts = Type.Array(text('A host as in the allow list of an environment.'), {
  minItems: 1,
  maxItems: 16,
  description: 'The hosts that get the secret.',
  examples: [['api.github.com']],
});
const names = (description: string, example: string[]) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 256 }), {
    maxItems: 16,
    description,
    examples: [example],
  });
const injection = closed(
  {
    headers: optional(
      names('Headers whose values can contain the placeholder. Default: `authorization`.', ['authorization']),
    ),
    basic: optional(
      flag('Whether the password of Basic authentication can be the placeholder. Default: true.'),
    ),
    query: optional(names('Members of the query whose value can be the placeholder. Default: none.', [])),
  },
  { title: 'VariableInjection', description: 'Where the placeholder is replaced by the secret.' },
);
const methodNames = names('The HTTP methods that get the secret. Empty: all.', []);
const pathPrefixes = names('The beginnings of the paths that get the secret. Empty: all.', []);
const placeholderPrefix = text('The beginning of the value that commands see instead of the secret.', {
  maxLength: 32,
  examples: ['ghp_'],
});

const tokenEndpoint = text('The URL at which tokens are requested.', {
  maxLength: 2_048,
  examples: ['https://login.example.com/token'],
});
const clientId = text('The client id.', { minLength: 1, maxLength: 2_048, examples: ['ahs'] });
const scopes = Type.Array(text('A scope.', { minLength: 1, maxLength: 200, examples: ['read'] }), {
  maxItems: 50,
  description: 'The scopes of a request for a token.',
});
const resource = text('The resource of a request for a token (RFC 8707).', {
  maxLength: 2_048,
  examples: ['https://mcp.example.com/mcp'],
});
const oauth = {
  token_endpoint: tokenEndpoint,
  client_id: clientId,
  scopes: optional(scopes),
  resource: optional(resource),
};

const credentialOf = <T extends string, Members extends TProperties>(
  type: T,
  title: string,
  members: Members,
) => closed({ type: Type.Literal(type), label: optional(label), ...members }, { title });
const destination = { mcp_server_url: optional(url), host: optional(host) };

export const CredentialCreationBody = Type.Union(
  [
    credentialOf('bearer', 'NewBearerCredential', { ...destination, token: secret }),
    credentialOf('header', 'NewHeaderCredential', { ...destination, name: headerName, value: secret }),
    credentialOf('basic', 'NewBasicCredential', { ...destination, username, password: secret }),
    credentialOf('oauth2', 'NewOAuthCredential', {
      ...destination,
      ...oauth,
      refresh_token: secret,
      client_secret: optional(secret),
      access_token: optional(secret),
      expires_at: optional(time('The time at which the access token expires.')),
    }),
    credentialOf('oauth2_client', 'NewOAuthClientCredential', {
      ...destination,
      ...oauth,
      client_secret: secret,
    }),
    credentialOf('environment_variable', 'NewVariableCredential', {
      name: variableName,
      value: secret,
      allowed_hosts: hosts,
      inject: optional(injection),
      methods: optional(methodNames),
      path_prefixes: optional(pathPrefixes),
      placeholder_prefix: optional(placeholderPrefix),
    }),
    credentialOf('model_key', 'NewModelKey', { provider, key: secret }),
  ],
  { discriminator: { propertyName: 'type' } },
);

export const CredentialPatchBody = closed({
  label: optional(label),
  enabled: optional(enabled),
  token: optional(secret),
  value: optional(secret),
  password: optional(secret),
  key: optional(secret),
  refresh_token: optional(secret),
  client_secret: optional(secret),
  access_token: optional(secret),
});

export type CredentialCreation = Static<typeof CredentialCreationBody>;

export const CredentialShape = Type.Object(
  {
    credential_id: id('crd', 'the credential'),
    vault_id: vaultId,
    label,
    type: Type.Enum(
      ['bearer', 'header', 'basic', 'oauth2', 'oauth2_client', 'environment_variable', 'model_key'],
      { description: 'The kind of the credential.' },
    ),
    enabled,
    mcp_server_url: nullable(url, NULL),
    hosts: Type.Array(Type.String(), {
      description: 'The hosts that get the credential.',
      examples: [['api.github.com']],
    }),
    auth: Type.Object(
      {
        name: optional(text('The name of the header or the variable.', { examples: ['GITHUB_TOKEN'] })),
        username: optional(username),
        provider: optional(provider),
        token_endpoint: optional(tokenEndpoint),
        client_id: optional(clientId),
        scopes: optional(scopes),
        resource: optional(resource),
        inject: optional(injection),
        methods: optional(methodNames),
        path_prefixes: optional(pathPrefixes),
        placeholder_prefix: optional(placeholderPrefix),
      },
      { title: 'CredentialAuth', description: 'The public members of the type.' },
    ),
    fingerprint: text('Twelve hexadecimal digits. Equal secrets of one vault have the same fingerprint.', {
      examples: ['3f1c0a9b7e42'],
    }),
    last_four: nullable(
      text('The last four characters of a secret of at least 20; null for a shorter one.', {
        examples: ['a1b2'],
      }),
    ),
    scopes: Type.Array(Type.String(), {
      description: 'The scopes of the access token, as its issuer granted them.',
      examples: [[]],
    }),
    status: Type.Enum(['active', 'needs_connection', 'refused', 'disabled'], {
      description:
        '`refused`: its server has refused the secret. `needs_connection`: its issuer has ended the authorization.',
    }),
    status_reason: nullable(text('The reason of the status.'), NULL),
    expires_at: nullable(time('The time at which the secret expires; null if unknown.'), NULL),
    last_used_at: nullable(time('The time of the last use.'), NULL),
    last_refreshed_at: nullable(time('The time of the last new access token.'), NULL),
    revision,
    created_by: id('usr', 'the user who created it'),
    created_at: time('The creation time.'),
    updated_at: time('The time of the last change.'),
  },
  { title: 'Credential', description: 'A credential without its secret.' },
);

export const CredentialTestShape = Type.Object(
  {
    status: Type.Enum(['valid', 'refused', 'unreachable', 'unknown'], {
      description: '`unknown`: the secret can be decrypted, and its type has no check.',
    }),
    http_status: nullable(Type.Integer({ description: 'The status of the response of the server.' }), NULL),
    detail: text('A text for people.'),
    checked_at: time('The time of the check.'),
  },
  { title: 'CredentialTest' },
);
