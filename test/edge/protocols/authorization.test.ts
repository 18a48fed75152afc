import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AUDIENCE } from '../../support/identity-provider.ts';
import { exchange, type RawResponse } from '../../support/raw-http.ts';
import { startSystem } from '../../support/system.ts';
import { expire, startTeam, type Team } from '../access/team.ts';

const PUBLIC = 'https://agents.example.com';
const PAGE = 'https://app.example.com';
const INTERNAL = 'mcp.internal';
const REALM = 'Bearer realm="agent-hosting-service"';
const WELL_KNOWN = '/.well-known/oauth-protected-resource';
const OPENAI = '/api/v1/openai/v1';
const AGENT = `agt_${'0'.repeat(26)}`;
const ENDPOINTS = ['/api/v1/mcp', '/mcp', `/api/v1/mcp/agents/${AGENT}`];
const SETTINGS = {
  SERVICE_PUBLIC_URL: PUBLIC,
  SERVICE_ALLOWED_ORIGINS: PAGE,
  SERVICE_ALLOWED_HOSTS: INTERNAL,
};
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
});

type Headers = Record<string, string>;
const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` });

/** Sends a request with these headers, among which Host can be. */
function send(url: string, line: string, headers: Headers, body = ''): Promise<RawResponse> {
  const sent: Headers = { Host: new URL(url).host, Connection: 'close', ...headers };
  if (body) sent['Content-Length'] = String(Buffer.byteLength(body));
  const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}`);
  return exchange(url, `${[`${line} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n${body}`);
}

const initialize = (url: string, path: string, headers: Headers) =>
  send(
    url,
    `POST ${path}`,
    { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    INITIALIZE,
  );

/** The error code of a response in the shape of the protocol; empty for a result. */
const codeOf = ({ text }: RawResponse): string => /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? '';

describe('protected resources in team mode', () => {
  let team: Team;
  let agent: string;
  let personal: string;
  beforeAll(async () => {
    team = await startTeam(SETTINGS);
    const alice = await team.logIn('alice');
    const created = await alice.post('/api/v1/agents', { name: 'Echo', model: 'rehearsal/echo' });
    agent = String(created.data.agent_id);
    personal = (await alice.token(['mcp'])).value;
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const agentPath = () => `/api/v1/mcp/agents/${agent}`;
  const ask = (path: string, headers: Headers) => initialize(team.url, path, headers);
  const status = async (path: string, headers: Headers) => (await ask(path, headers)).status;
  const token = (audience: string, scope = 'agents:mcp') =>
    team.provider.accessToken('alice', { audience, scope });

  describe('metadata', () => {
    it.each<[string, string]>([
      [WELL_KNOWN, '/api/v1/mcp'],
      ...ENDPOINTS.map((path): [string, string] => [WELL_KNOWN + path, path]),
    ])('%s describes %s', async (path, endpoint) => {
      const { status, headers, text } = await send(team.url, `GET ${path}`, {});
      expect(status).toBe(200);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(JSON.parse(text)).toEqual({
        resource: PUBLIC + endpoint,
        authorization_servers: [team.provider.issuer],
        scopes_supported: ['agents:mcp', 'agents:approve'],
        bearer_methods_supported: ['header'],
        resource_name: 'Agent Hosting Service',
      });
    });

    it('of the OpenAI-compatible API is that of its base URL', async () => {
      const { status, text } = await send(team.url, `GET ${WELL_KNOWN}${OPENAI}`, {});
      expect(status).toBe(200);
      expect(JSON.parse(text)).toMatchObject({
        resource: PUBLIC + OPENAI,
        authorization_servers: [team.provider.issuer],
        scopes_supported: ['agents:mcp'],
      });
    });

    it('is not found for other paths', async () => {
      for (const path of ['/api/v1/agents', '/api/v1/mcp/agents/agt_1', '/api/v1/mcp/agents', '/mcp/'])
        expect((await send(team.url, `GET ${WELL_KNOWN}${path}`, {})).status, path).toBe(404);
    });

    it('is readable for pages of allowed origins only', async () => {
      const read = (origin: string) => send(team.url, `GET ${WELL_KNOWN}`, { Origin: origin });
      const allowed = await read(PAGE);
      expect(allowed.status).toBe(200);
      expect(allowed.headers.get('access-control-allow-origin')).toBe(PAGE);
      const refused = await read('https://evil.example');
      expect([refused.status, codeOf(refused)]).toEqual([403, 'CSRF_REJECTED']);
    });
  });

  describe('challenges', () => {
    const metadata = (path: string) => `resource_metadata="${PUBLIC}${WELL_KNOWN}${path}"`;

    it.each(ENDPOINTS)('%s tells clients without a valid token where to log in', async (path) => {
      const login = `${metadata(path)}, scope="agents:mcp"`;
      const cases: [Headers, string][] = [
        [{}, `${REALM}, ${login}`],
        [{ Authorization: 'Basic YTpi' }, `${REALM}, ${login}`],
        [bearer('ahs_unknown'), `${REALM}, error="invalid_token", ${login}`],
        [bearer(''), `${REALM}, error="invalid_token", ${login}`],
        [bearer(await token('https://elsewhere.example.com')), `${REALM}, error="invalid_token", ${login}`],
        [{ Origin: PAGE }, `${REALM}, ${login}`],
      ];
      for (const [headers, challenge] of cases) {
        const response = await ask(path, headers);
        expect([response.status, codeOf(response)]).toEqual([401, 'UNAUTHENTICATED']);
        expect(response.headers.get('www-authenticate')).toBe(challenge);
      }
    });

    it.each(ENDPOINTS)('%s tells clients whose token lacks the scope which one to request', async (path) => {
      const alice = await team.logIn('alice');
      const tokens = [
        (await alice.token(['read', 'write', 'admin', 'approve'])).value,
        await token(AUDIENCE, 'agents:write agents:approve'),
        await token(PUBLIC + path, 'mcp'),
      ];
      for (const one of tokens) {
        const response = await ask(path, bearer(one));
        expect([response.status, codeOf(response)]).toEqual([403, 'SCOPE_INSUFFICIENT']);
        expect(response.headers.get('www-authenticate')).toBe(
          `${REALM}, error="insufficient_scope", ${metadata(path)}, scope="agents:mcp"`,
        );
      }
    });

    it('are readable for pages of allowed origins', async () => {
      const { headers } = await ask('/mcp', { Origin: PAGE });
      expect(headers.get('access-control-allow-origin')).toBe(PAGE);
      expect(headers.get('access-control-expose-headers')).toContain('WWW-Authenticate');
    });

    it('are given to a browser with a login, whose cookie is ignored', async () => {
      const { jar } = await team.logIn('alice');
      for (const from of [{}, { Origin: PUBLIC }] as Headers[]) {
        const response = await ask('/mcp', { Cookie: jar.header(), ...from });
        expect([response.status, codeOf(response)]).toEqual([401, 'UNAUTHENTICATED']);
      }
      expect(await status('/mcp', { Cookie: jar.header(), ...bearer(personal) })).toBe(200);
    });
  });

  describe('audience', () => {
    it('of an access token is the configured one or the URL of the endpoint', async () => {
      for (const path of ['/api/v1/mcp', '/mcp', agentPath()]) {
        expect(await status(path, bearer(await token(AUDIENCE))), path).toBe(200);
        expect(await status(path, bearer(await token(PUBLIC + path))), path).toBe(200);
        expect(await status(`${path}?a=1`, bearer(await token(PUBLIC + path))), path).toBe(200);
      }
    });

    it('counts for its own endpoint and for no other route', async () => {
      for (const own of ['/api/v1/mcp', '/mcp', agentPath()]) {
        const headers = bearer(await token(PUBLIC + own, 'agents:mcp agents:read'));
        // Twice, so that each answer is also given while the answers for the other resources are cached.
        for (const _ of [1, 2]) {
          for (const path of ['/api/v1/mcp', '/mcp', agentPath()])
            expect(await status(path, headers), `${own} at ${path}`).toBe(path === own ? 200 : 401);
          expect((await send(team.url, 'GET /api/v1/agents', headers)).status).toBe(401);
        }
      }
    });

    it('of the OpenAI-compatible API counts for all of its routes and for no other resource', async () => {
      const models = (headers: Headers) => send(team.url, `GET ${OPENAI}/models`, headers);
      const own = bearer(await token(PUBLIC + OPENAI));
      for (const headers of [own, bearer(await token(AUDIENCE)), bearer(personal)])
        expect((await models(headers)).status).toBe(200);
      expect((await send(team.url, `GET ${OPENAI}/models/${agent}`, own)).status).toBe(200);
      expect(await status('/mcp', own)).toBe(401);
      const refused = await models(bearer(await token(`${PUBLIC}/mcp`)));
      expect([refused.status, codeOf(refused)]).toEqual([401, 'UNAUTHENTICATED']);
      expect(refused.headers.get('www-authenticate')).toBe(
        `${REALM}, error="invalid_token", resource_metadata="${PUBLIC}${WELL_KNOWN}${OPENAI}", scope="agents:mcp"`,
      );
    });

    it('is not that of another origin, Host or spelling', async () => {
      const { host } = new URL(team.url);
      for (const audience of [
        `http://${host}/mcp`,
        `http://${INTERNAL}/mcp`,
        `${PUBLIC}/mcp/`,
        `${PUBLIC}/MCP`,
        PUBLIC,
        '/mcp',
      ])
        expect(await status('/mcp', { ...bearer(await token(audience)), Host: INTERNAL }), audience).toBe(
          401,
        );
    });

    it('does not concern personal access tokens', async () => {
      for (const path of ['/api/v1/mcp', '/mcp', agentPath()])
        expect(await status(path, bearer(personal)), path).toBe(200);
    });
  });

  describe('Host and Origin', () => {
    it.each(['evil.example', 'agents.example.com.evil.example', '127.0.0.2', INTERNAL.slice(1)])(
      'refuses the Host %s',
      async (host) => {
        const response = await ask('/mcp', { ...bearer(personal), Host: host });
        expect([response.status, codeOf(response)]).toEqual([403, 'HOST_NOT_ALLOWED']);
      },
    );

    it.each(['agents.example.com', 'AGENTS.example.com:443', 'localhost:80', '127.0.0.1', INTERNAL])(
      'accepts the Host %s',
      async (host) => {
        expect(await status('/mcp', { ...bearer(personal), Host: host })).toBe(200);
      },
    );

    it('refuses the Origin of other pages, with any credential', async () => {
      for (const headers of [{}, bearer(personal), bearer(await token(AUDIENCE))])
        for (const origin of ['https://evil.example', 'null', `${PUBLIC}:444`]) {
          const response = await ask('/mcp', { ...headers, Origin: origin });
          expect([response.status, codeOf(response)]).toEqual([403, 'CSRF_REJECTED']);
        }
    });

    it('accepts the Origin of the service and those of SERVICE_ALLOWED_ORIGINS', async () => {
      for (const origin of [PUBLIC, PAGE])
        expect(await status('/mcp', { ...bearer(personal), Origin: origin })).toBe(200);
    });
  });

  it('refuses an expired and a revoked token', async () => {
    const bob = await team.logIn('bob');
    const revoked = await bob.token(['mcp']);
    expect(await status('/mcp', bearer(revoked.value))).toBe(200);
    await bob.send('DELETE', `/api/v1/auth/tokens/${revoked.id}`);
    expect(await status('/mcp', bearer(revoked.value))).toBe(401);
    const expired = await bob.token(['mcp'], 1);
    await expire(team, expired.id);
    const response = await ask('/mcp', bearer(expired.value));
    expect([response.status, codeOf(response)]).toEqual([401, 'TOKEN_EXPIRED']);
    expect(response.headers.get('www-authenticate')).toContain('error="invalid_token", resource_metadata=');
  });
});

describe('protected resources without SERVICE_OIDC_AUDIENCE', () => {
  let team: Team;
  beforeAll(async () => {
    team = await startTeam({ SERVICE_OIDC_AUDIENCE: '' });
  });
  afterAll(() => team[Symbol.asyncDispose]());

  it('have no metadata', async () => {
    for (const path of ['', ...ENDPOINTS]) {
      const response = await send(team.url, `GET ${WELL_KNOWN}${path}`, {});
      expect([response.status, codeOf(response)]).toEqual([404, 'ROUTE_NOT_FOUND']);
    }
  });

  it('accept personal access tokens and no access tokens of the provider', async () => {
    const alice = await team.logIn('alice');
    const personal = bearer((await alice.token(['mcp'])).value);
    expect((await initialize(team.url, '/mcp', personal)).status).toBe(200);
    const audience = `${team.url}/mcp`;
    const access = await team.provider.accessToken('alice', { audience, scope: 'agents:mcp' });
    const refused = await initialize(team.url, '/mcp', bearer(access));
    expect([refused.status, codeOf(refused)]).toEqual([401, 'UNAUTHENTICATED']);
    expect(refused.headers.get('www-authenticate')).toBe(`${REALM}, error="invalid_token"`);
    const other = await initialize(team.url, '/mcp', bearer((await alice.token(['write'])).value));
    expect(other.headers.get('www-authenticate')).toBe(`${REALM}, error="insufficient_scope", scope="mcp"`);
  });
});

describe('protected resources in local mode', () => {
  it('have no metadata and need no credential, but check Host and Origin', async () => {
    await using system = await startSystem();
    const ask = (headers: Headers) => initialize(system.url, '/mcp', headers);
    for (const path of ['', ...ENDPOINTS])
      expect((await send(system.url, `GET ${WELL_KNOWN}${path}`, {})).status).toBe(404);
    for (const headers of [{}, bearer('any'), { Cookie: 'ahs_login=any' }])
      expect((await ask(headers)).status).toBe(200);
    expect(codeOf(await ask({ Host: 'evil.example' }))).toBe('HOST_NOT_ALLOWED');
    expect(codeOf(await ask({ Origin: 'https://evil.example' }))).toBe('CSRF_REJECTED');
    // A page of another site cannot open the endpoint in a browser either.
    const link = {
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'navigate',
      'Sec-Fetch-Dest': 'document',
    };
    expect(codeOf(await ask(link))).toBe('CSRF_REJECTED');
  });
});
