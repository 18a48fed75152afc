type Secret = 'token' | 'value' | 'password' | 'key';

/** A valid body of each type, without its secret, and the member of the secret. */
export const CREDENTIALS: { body: Record<string, unknown>; secret: Secret }[] = [
  { body: { type: 'bearer', mcp_server_url: 'https://mcp.example.com/mcp' }, secret: 'token' },
  { body: { type: 'header', host: 'api.example.com', name: 'X-Api-Key' }, secret: 'value' },
  { body: { type: 'basic', host: 'git.example.com', username: 'deploy' }, secret: 'password' },
  {
    body: { type: 'environment_variable', name: 'GITHUB_TOKEN', allowed_hosts: ['api.github.com'] },
    secret: 'value',
  },
  { body: { type: 'model_key', provider: 'anthropic' }, secret: 'key' },
];
