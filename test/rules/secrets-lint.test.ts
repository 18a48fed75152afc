import { beforeAll, describe, expect, it } from 'vitest';
import { lint } from '../support/lint.ts';

/** The files that may reveal a secret, each with its reason. */
const ALLOWED: Record<string, string> = {
  'lib/secret-json.ts': 'encodes secrets for encryption',
  'lib/grpc/sealed-for-peer.ts': 'encrypts secrets for another module',
  'services/vaults/keys/vault-keys.ts': 'encrypts the secrets of a credential',
  'services/vaults/keys/fingerprint.ts': 'digests a secret, and shows its last characters',
  'services/vaults/domain/secret-form.ts': 'checks the length and the characters of a secret',
  'services/vaults/domain/credential-headers.ts': 'makes the headers of requests to an MCP server',
  'services/runner/tools/mcp/remote-server.ts': 'makes the headers of requests to an MCP server',
  'services/vaults/request-digest.ts': 'digests the secrets of a repeated request',
  'services/channels/products/discord/credentials.ts': 'reads the application id and the public key',
  'services/channels/products/discord/rest-api.ts': 'sends the bot token to Discord',
  'services/channels/products/telegram/bot-api.ts': 'sends the bot token and the webhook secret to Telegram',
  'services/deployments/channels/channel-sealing.ts': 'encrypts the credentials of a channel',
  'services/deployments/domain/channels/credentials.ts':
    'checks the form of credentials, and shows their last characters',
  'services/deployments/channels/verification.ts': 'verifies the callbacks of messaging products',
  'services/deployments/handlers/creation.ts':
    'sends the secret of a webhook to an edge of the previous release',
  'edge/routes/deployments/bodies.ts': 'shows the secret of a webhook to its owner, once',
};

const REVEAL = 'export const text = secret.reveal();';
const FORBIDDEN = [
  REVEAL,
  'export const text = secret?.reveal();',
  `export const text = secrets.token?.reveal() ?? '';`,
  `export const text = secret['reveal']();`,
  'export const reveal = secret.reveal.bind(secret);',
  'export const bytes = encodeSecretJson({ token: secret });',
];
const HARMLESS = ['export const text = String(secret);', 'export const text = revealed(secret);'];

let findings: Map<string, number>;

beforeAll(async () => {
  const planted = [
    ...FORBIDDEN.map((text, index) => [`services/alpha/forbidden-${index}.ts`, text]),
    ...HARMLESS.map((text, index) => [`services/alpha/harmless-${index}.ts`, text]),
    ...['lib', 'edge/routes', 'services/vaults', 'services/runner', 'scripts', 'test'].map((folder) => [
      `${folder}/planted.ts`,
      REVEAL,
    ]),
    ...Object.keys(ALLOWED).map((path) => [path, REVEAL]),
  ];
  findings = await lint(Object.fromEntries(planted), 'A secret is revealed');
});

describe('lint rule for secrets', () => {
  it.each(FORBIDDEN.map((text, index) => [text, index] as const))('refuses %s', (_, index) => {
    expect(findings.get(`services/alpha/forbidden-${index}.ts`)).toBe(1);
  });

  it('applies to lib/, services/ and edge/, without the listed files', () => {
    const others = [...findings.keys()].filter((path) => !path.includes('/forbidden-'));
    expect(others.sort()).toEqual(
      ['edge/routes', 'lib', 'services/runner', 'services/vaults'].map((folder) => `${folder}/planted.ts`),
    );
  });
});
