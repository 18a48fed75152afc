import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { Client as Client2025 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport2025 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTeam, type Team } from '../../edge/access/team.ts';
import { CookieJar } from '../../support/cookie-jar.ts';
import { OAuthSession, REDIRECT } from '../../support/oauth-session.ts';

const IMPLEMENTATION = { name: 'test', version: '1' };
/** Long enough to open a stream on a slow machine. */
const LIFETIME_SECONDS = 20;

/** A client that has been told nothing but a URL, with its own login. */
interface TestClient {
  /** Fails with an error of the SDK when the user has to log in. */
  connect(url: URL, session: OAuthSession): Promise<string[]>;
  finish(url: URL, session: OAuthSession, callback: URLSearchParams): Promise<void>;
}

const toolsOf = ({ tools }: { tools: { name: string }[] }) => tools.map(({ name }) => name);

const CURRENT: TestClient = {
  async connect(url, session) {
    const client = new Client(IMPLEMENTATION, { versionNegotiation: { mode: 'auto' } });
    try {
      await client.connect(new StreamableHTTPClientTransport(url, { authProvider: session }));
      return toolsOf(await client.listTools());
    } finally {
      await client.close();
    }
  },
  finish: (url, session, callback) =>
    new StreamableHTTPClientTransport(url, { authProvider: session }).finishAuth(callback),
};

const FORMER: TestClient = {
  async connect(url, session) {
    const client = new Client2025(IMPLEMENTATION);
    try {
      await client.connect(new Transport2025(url, { authProvider: session }));
      return toolsOf(await client.listTools());
    } finally {
      await client.close();
    }
  },
  finish: (url, session, callback) =>
    new Transport2025(url, { authProvider: session }).finishAuth(callback.get('code') ?? ''),
};

describe('an MCP client that logs in through the identity provider', () => {
  let team: Team;
  let agent: string;
  beforeAll(async () => {
    team = await startTeam();
    const alice = await team.logIn('alice');
    const created = await alice.post('/api/v1/agents', { name: 'Echo', model: 'rehearsal/echo' });
    agent = String(created.data.agent_id);
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const urlOf = (path: string) => new URL(team.url + path.replace('{agent_id}', agent));

  /** Connects, logs the user in like a browser, and connects again. Returns the names of the tools. */
  async function logIn(client: TestClient, url: URL, session: OAuthSession): Promise<string[]> {
    await expect(client.connect(url, session)).rejects.toThrow();
    const { authorizationUrl } = session;
    if (!authorizationUrl) throw new Error('the client did not send its user to a login');
    const { origin } = new URL(REDIRECT);
    const query = await team.provider.login(authorizationUrl.href, 'alice', new CookieJar(), origin);
    await client.finish(url, session, new URLSearchParams(query));
    return client.connect(url, session);
  }

  describe.each([
    ['@modelcontextprotocol/client', CURRENT],
    ['@modelcontextprotocol/sdk', FORMER],
  ])('%s', (_, client) => {
    it.each(['/api/v1/mcp', '/mcp', '/api/v1/mcp/agents/{agent_id}'])(
      'needs nothing but the URL of %s',
      async (path) => {
        const session = new OAuthSession();
        const url = urlOf(path);
        expect(await logIn(client, url, session)).toContain('get_agent');
        const { searchParams, origin } = session.authorizationUrl ?? new URL('about:blank');
        expect(origin).toBe(team.provider.issuer);
        expect(searchParams.get('resource')).toBe(url.href);
        expect(searchParams.get('scope')?.split(' ')).toContain('agents:mcp');
        expect(searchParams.get('scope')).not.toContain('agents:approve');
        expect(decodeJwt(session.stored?.access_token ?? '')).toMatchObject({
          aud: url.href,
          scope: 'agents:mcp',
        });
      },
    );
  });

  it.each([
    ['@modelcontextprotocol/client', CURRENT],
    ['@modelcontextprotocol/sdk', FORMER],
  ])('logs in without a registration if its id is the URL of its metadata: %s', async (name, client) => {
    const clientMetadataUrl = `https://clients.example/${encodeURIComponent(name)}/client.json`;
    const session = new OAuthSession({ clientMetadataUrl });
    const { provider } = team;
    provider.clientDocuments[clientMetadataUrl] = {
      ...session.clientMetadata,
      client_id: clientMetadataUrl,
    };
    const isRegistration = (path: string) => path === '/reg';
    const registrations = provider.requests.filter(isRegistration).length;
    expect(await logIn(client, urlOf('/api/v1/mcp'), session)).toContain('get_agent');
    expect(session.authorizationUrl?.searchParams.get('client_id')).toBe(clientMetadataUrl);
    expect(provider.fetched).toContain(clientMetadataUrl);
    expect(provider.requests.filter(isRegistration)).toHaveLength(registrations);
    expect(decodeJwt(session.stored?.access_token ?? '')).toMatchObject({
      aud: urlOf('/api/v1/mcp').href,
      client_id: clientMetadataUrl,
    });
  });

  it('has to log in again for another endpoint', async () => {
    const session = new OAuthSession();
    await logIn(CURRENT, urlOf('/mcp'), session);
    const authorization = `Bearer ${session.stored?.access_token}`;
    const ask = (path: string) =>
      fetch(urlOf(path), { method: 'POST', headers: { authorization, 'content-type': 'application/json' } });
    expect((await ask('/mcp')).status).toBe(400);
    expect((await ask('/api/v1/mcp')).status).toBe(401);
    expect((await fetch(urlOf('/api/v1/agents'), { headers: { authorization } })).status).toBe(401);
  });

  it('renews a rejected token without its user', async () => {
    const session = new OAuthSession();
    await logIn(CURRENT, urlOf('/mcp'), session);
    session.authorizationUrl = undefined;
    if (session.stored) session.stored = { ...session.stored, access_token: 'expired' };
    expect(await CURRENT.connect(urlOf('/mcp'), session)).toContain('get_agent');
    expect(session.authorizationUrl).toBeUndefined();
    expect(decodeJwt(session.stored?.access_token ?? '')).toMatchObject({ aud: urlOf('/mcp').href });
  });

  it('is sent to the login when its token is rejected', async () => {
    const session = new OAuthSession();
    session.stored = { access_token: 'ahs_unknown', token_type: 'Bearer', issuer: team.provider.issuer };
    await expect(CURRENT.connect(urlOf('/mcp'), session)).rejects.toThrow(UnauthorizedError);
    expect(session.authorizationUrl?.origin).toBe(team.provider.issuer);
  });

  it('loses its stream when its access token expires, also while one for another endpoint is valid', async () => {
    const listen = async (path: string, lifetimeSeconds: number) => {
      const audience = urlOf(path).href;
      const token = await team.provider.accessToken('bob', {
        ...{ audience, scope: 'agents:mcp', lifetimeSeconds },
      });
      const client = new Client(IMPLEMENTATION, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
      const headers = { authorization: `Bearer ${token}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(audience), { requestInit: { headers } }),
      );
      return { client, subscription: await client.listen({ toolsListChanged: true }) };
    };
    await team.logIn('bob');
    const other = await listen('/api/v1/mcp', 600);
    const expiring = await listen('/mcp', LIFETIME_SECONDS);
    const isOtherClosed = other.subscription.closed.then(() => true);
    expect(await expiring.subscription.closed).not.toBe('local');
    await expect(expiring.client.listTools()).rejects.toThrow();
    await other.client.listTools();
    expect(await Promise.race([isOtherClosed, Promise.resolve(false)])).toBe(false);
    await Promise.all([other.client.close(), expiring.client.close()]);
  });

  it('loses its stream when its personal access token is deleted', async () => {
    const bob = await team.logIn('bob');
    const { id, value } = await bob.token(['mcp']);
    const client = new Client(IMPLEMENTATION, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
    const headers = { authorization: `Bearer ${value}` };
    await client.connect(new StreamableHTTPClientTransport(urlOf('/mcp'), { requestInit: { headers } }));
    const subscription = await client.listen({ toolsListChanged: true });
    expect((await bob.send('DELETE', `/api/v1/auth/tokens/${id}`)).status).toBe(200);
    expect(await subscription.closed).not.toBe('local');
    await expect(client.listTools()).rejects.toThrow();
    await client.close();
  });
});
