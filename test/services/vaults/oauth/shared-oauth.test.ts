import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AGENT } from '../fake-targets.ts';
import { host } from '../shared-credentials.ts';
import { administrator, refusalOf } from '../system.ts';
import { type ConnectionFixture, openConnectionFixture } from './connection-fixture.ts';

const CLIENT_SECRET = { client_secret: 'a secret of the client at the issuer' };
const CLIENT = { client_id: 'shared-client', ...CLIENT_SECRET };

const tokenHeader = (number: number) => ({ headers: { Authorization: `Bearer token-${number}` } });

describe('OAuth credentials of shared vaults', () => {
  let fixture: ConnectionFixture;
  beforeAll(async () => {
    fixture = await openConnectionFixture('in process', { clients: [CLIENT] });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const oauthMembers = () => ({
    ...{ tokenEndpoint: `${fixture.issuer.issuer}/token`, clientId: CLIENT.client_id, scopes: ['read'] },
    ...{ resource: fixture.remote.url, issuer: '', revocationEndpoint: '' },
    clientAuthentication: 'client_secret_basic',
  });

  /** A credential of a vault of the agent. */
  async function assign(
    type: string,
    secrets: Record<string, string>,
    target: { mcpServerUrl: string } | { host: string } = { mcpServerUrl: fixture.remote.url },
  ) {
    const { system } = fixture;
    const { vaultId } = await system.createVault();
    const members = {
      type,
      ...target,
      public: { of: { $case: 'oauth' as const, value: oauthMembers() } },
    };
    const { credential } = await system.createCredential({ vaultId, ...members }, secrets);
    if (!credential) throw new Error('the response has no credential');
    const agent = { of: { $case: 'agentId' as const, value: AGENT } };
    await system.edge.putAssignments(
      { target: agent, vaultIds: [vaultId], ifRevisions: undefined },
      administrator,
    );
    return credential;
  }

  it('of the type oauth2_client request a token for the client, which the server accepts', async () => {
    const credential = await assign('oauth2_client', { client_secret: CLIENT.client_secret });
    const { mcpServerId } = fixture.addServer({ authorization: 'shared' });
    const lent = await fixture.lend(mcpServerId);
    expect(lent).toMatchObject({ credentialId: credential.credentialId, source: 'shared', generation: 2 });
    expect(await fixture.remote.accepts?.(lent.headers?.Authorization ?? '')).toBe(true);
    expect(fixture.issuer.tokenRequests.at(-1)?.get('resource')).toBe(fixture.remote.url);
    expect(await fixture.system.test(credential)).toBe('valid');
  });

  it('are refused by their test when the issuer refuses the client', async () => {
    const credential = await assign('oauth2_client', { client_secret: 'another secret of the client' });
    expect(await fixture.system.test(credential)).toBe('refused');
    const { mcpServerId } = fixture.addServer({ authorization: 'shared' });
    expect(await fixture.lend(mcpServerId)).toMatchObject({ reason: 'expired', who: 'administrator' });
  });

  it('of the type oauth2 exchange their refresh token', async () => {
    const credential = await assign('oauth2', { refresh_token: 'the-first-refresh-token' });
    const bodies: string[] = [];
    fixture.issuer.onToken = async (request, response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      bodies.push(Buffer.concat(chunks).toString());
      const tokens = { access_token: 'an-access-token', token_type: 'Bearer', refresh_token: 'a-second-one' };
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(tokens));
    };
    const { mcpServerId } = fixture.addServer({ authorization: 'shared' });
    const lent = await fixture.lend(mcpServerId);
    fixture.issuer.onToken = undefined;
    expect(lent).toMatchObject({
      credentialId: credential.credentialId,
      headers: { Authorization: 'Bearer an-access-token' },
    });
    expect(bodies).toHaveLength(1);
    expect(bodies[0]).toContain('refresh_token=the-first-refresh-token');
  });

  it.each(['oauth2', 'oauth2_client'])(
    'of the type %s get one new token a minute when the host refuses a sandbox',
    async (type) => {
      const { system, issuer, clock } = fixture;
      const target = { host: `${type.replace('_', '-')}.example.org` };
      let tokens = 0;
      issuer.onToken = (_, response) => {
        const body = { access_token: `token-${++tokens}`, token_type: 'Bearer', expires_in: 3_600 };
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
      };
      const secrets = type === 'oauth2' ? { refresh_token: 'a-refresh-token' } : CLIENT_SECRET;
      const { credentialId } = await assign(type, secrets, target);
      const lease = system.leases.lease();
      const need = host(target.host);
      const lend = async () => (await system.lendFor(lease, [need]))[0]!;
      const first = await lend();
      expect(first).toMatchObject({ credentialId, refreshable: true, ...tokenHeader(1) });
      // The issuer has just given the token.
      expect(await system.reportRefusalFor(lease, need, first)).toMatchObject({ reason: 'refused' });
      clock.advance(60_000);
      const reports = [1, 2, 3].map(() => system.reportRefusalFor(lease, need, first));
      for (const report of await Promise.all(reports)) expect(report).toMatchObject(tokenHeader(2));
      expect(await lend()).toMatchObject({ generation: first.generation! + 1, ...tokenHeader(2) });
      expect(await system.reportRefusalFor(lease, need, await lend())).toMatchObject({ reason: 'refused' });
      expect(await lend()).toMatchObject(tokenHeader(2));
      expect(tokens).toBe(2);
      issuer.onToken = undefined;
    },
  );

  it('encode id and secret of the client as a form does, for issuers that do not decode them', async () => {
    await assign('oauth2_client', { client_secret: CLIENT.client_secret });
    let authorization = '';
    fixture.issuer.onToken = (request, response) => {
      authorization = request.headers.authorization ?? '';
      const tokens = { access_token: 'an-access-token', token_type: 'Bearer' };
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(tokens));
    };
    await fixture.lend(fixture.addServer({ authorization: 'shared' }).mcpServerId);
    fixture.issuer.onToken = undefined;
    const [, credentials = ''] = authorization.split(' ');
    expect(Buffer.from(credentials, 'base64').toString()).toBe(
      'shared-client:a+secret+of+the+client+at+the+issuer',
    );
  });

  it('need the members of their type, with pointers to what is wrong', async () => {
    const { system, remote } = fixture;
    const { vaultId } = await system.createVault();
    const value = { ...oauthMembers(), tokenEndpoint: 'http://issuer.example/token', scopes: ['two words'] };
    const members = {
      type: 'oauth2',
      mcpServerUrl: remote.url,
      public: { of: { $case: 'oauth' as const, value } },
    };
    expect(await refusalOf(system.createCredential({ vaultId, ...members }, { client_secret: 'x' }))).toBe(
      'INVALID_REQUEST /token_endpoint /scopes/0 /refresh_token',
    );
  });
});
