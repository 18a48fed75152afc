import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { AuthorizationServer, protectServer } from '../support/authorization-server.ts';
import { type McpTestServer, startMcpServer } from '../support/mcp-server.ts';
import { addReviewedServer } from '../support/reviewed-server.ts';
import { type System, startInProcess } from '../support/system.ts';
import { until } from '../support/wait.ts';

describe('connections to MCP servers', () => {
  const stack = new AsyncDisposableStack();
  let issuer: AuthorizationServer;
  let remote: McpTestServer;
  let system: System;
  let api: Api;
  let calls = 0;
  beforeAll(async () => {
    issuer = stack.use(await AuthorizationServer.open({}));
    const find = {
      description: 'Finds.',
      call: () => {
        calls += 1;
        return { content: [{ type: 'text' as const, text: 'found' }] };
      },
    };
    remote = stack.use(await startMcpServer({ find }));
    const hosts = [remote.port, issuer.port].map((port) => `127.0.0.1:${port}`);
    system = stack.use(await startInProcess({ SERVICE_OUTBOUND_PRIVATE_HOSTS: hosts.join(',') }));
    issuer.origin = system.url;
    api = createApi(system.url);
  });
  afterAll(() => stack.disposeAsync());

  async function createServer(name: string): Promise<string> {
    const id = await addReviewedServer(api, remote, name);
    protectServer(remote, issuer);
    return id;
  }

  /** The MCP server of a session, as its extensions show it. */
  async function extensionOf(session: string): Promise<unknown> {
    const { body } = await api.get(`/sessions/${session}/extensions`);
    return (body.data as unknown as { mcp_servers: unknown[] }).mcp_servers[0];
  }

  /** Begins an authorization. Returns its URL and the cookie of the browser. */
  async function begin(mcpServerId: string, returnTo = '/') {
    const request = { mcp_server_id: mcpServerId, return_to: returnTo };
    const { status, body, headers } = await api.post('/auth/connections', request);
    expect(status).toBe(201);
    const [cookie = ''] = headers.getSetCookie().map((line) => line.split(';')[0]);
    return { url: String(body.data.authorization_url), cookie };
  }

  /** Follows the redirect of the authorization server, which is another site. `fetch` would replace these headers. */
  async function callBack(query: string, cookie: string, accept?: string): Promise<IncomingMessage> {
    const navigation = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    const request = get(`${system.url}/api/v1/auth/connections/callback?${query}`, {
      headers: { ...navigation, cookie, ...(accept && { accept }) },
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  }

  it('continues a turn by itself when its user connects, and calls the tool once', async () => {
    const mcpServerId = await createServer('waiting');
    const steps = [{ tool: 'mcp__waiting__find', input: {} }, { text: 'Done.' }];
    const agentId = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    await api.send('PUT', `/agents/${agentId}/extensions`, { mcp_server_ids: [mcpServerId], skill_ids: [] });
    const begun = await api.post(`/agents/${agentId}/conversations`, { message: 'Go' });
    const session = String(begun.body.data.session_id);
    const [approval] = await until('the turn waits for the connection', async () => {
      const { body } = await api.get(`/sessions/${session}/approvals`);
      return body.data.length > 0 && (body.data as { details: object }[]);
    });
    expect(approval).toMatchObject({
      kind: 'authorization',
      details: { mcp_server_id: mcpServerId, name: 'waiting', reason: 'not_connected', who: 'you' },
    });
    expect(calls).toBe(0);
    expect(await extensionOf(session)).toMatchObject({ name: 'waiting', state: 'needs_connection' });
    const { url, cookie } = await begin(mcpServerId, `/sessions/${session}`);
    const redirected = await callBack(await issuer.authorize(url, 'ada'), cookie);
    expect(redirected.statusCode).toBe(302);
    expect(redirected.headers.location).toBe(`/sessions/${session}`);
    redirected.resume();
    await until('the session is completed', async () => {
      const { body } = await api.get(`/sessions/${session}`);
      return body.data.state === 'completed';
    });
    expect(calls).toBe(1);
    expect(await extensionOf(session)).toMatchObject({ state: 'ready', credential: 'personal' });
  });

  it('lists, changes and ends a connection', async () => {
    const mcpServerId = await createServer('listed');
    const { url, cookie } = await begin(mcpServerId);
    (await callBack(await issuer.authorize(url, 'ada'), cookie)).resume();
    const list = async () => (await api.get('/auth/connections')).body.data as unknown as Listed;
    const connection = (await list()).connections.find((one) => one.mcp_server_id === mcpServerId);
    expect(connection).toMatchObject({
      ...{ name: 'listed', status: 'active', scopes: ['read'], use_in_triggered_sessions: false },
    });
    const path = `/auth/connections/${connection?.connection_id}`;
    const changed = await api.send('PATCH', path, { use_in_triggered_sessions: true });
    expect(changed.body.data).toMatchObject({ use_in_triggered_sessions: true });
    expect((await api.send('DELETE', path)).body.data).toMatchObject({ deleted: true });
    const { connections, available } = await list();
    expect(connections.map((one) => one.mcp_server_id)).not.toContain(mcpServerId);
    expect(available.map((one) => one.mcp_server_id)).toContain(mcpServerId);
  });

  it('serve the client id metadata document of the service', async () => {
    const response = await fetch(`${system.url}/api/v1/auth/connections/client.json`);
    expect(await response.json()).toMatchObject({
      client_id: `${system.url}/api/v1/auth/connections/client.json`,
      redirect_uris: [`${system.url}/api/v1/auth/connections/callback`],
      token_endpoint_auth_method: 'none',
    });
  });

  it('refuses the callback of another browser with 403', async () => {
    const { url } = await begin(await createServer('another-browser'));
    const refused = await callBack(await issuer.authorize(url, 'ada'), '');
    expect(refused.statusCode).toBe(403);
    expect(await json(refused)).toMatchObject({ code: 'CONNECTION_REFUSED' });
  });

  it('redirects a refused browser to the page of connections with the code alone', async () => {
    const mcpServerId = await createServer('refused-page');
    const { url, cookie } = await begin(mcpServerId, '/sessions');
    const query = await issuer.authorize(url, 'ada');
    const html = 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8';
    for (const [sent, from] of [
      [query, ''],
      ['', cookie],
      [`error=access_denied&return_to=https://attacker.example&refused=/x`, cookie],
    ] as const) {
      const refused = await callBack(sent, from, html);
      expect(refused.statusCode).toBe(302);
      expect(refused.headers.location).toBe('/connections?refused=CONNECTION_REFUSED');
      refused.resume();
    }
    for (const accept of ['application/json', '*/*', 'text/html;q=0']) {
      const refused = await callBack('', cookie, accept);
      expect(refused.statusCode).toBe(403);
      expect(await json(refused)).toMatchObject({ code: 'CONNECTION_REFUSED' });
    }
    const again = await begin(mcpServerId, '/sessions');
    const finished = await callBack(await issuer.authorize(again.url, 'ada'), again.cookie, html);
    expect(finished.headers.location).toBe('/sessions');
    finished.resume();
  });

  it('begins an authorization for an administrator client with a secret, which no response contains', async () => {
    const client = { client_id: 'ahs', client_secret: 'canary-client-secret', issuer: issuer.issuer };
    const server = { name: 'registered', url: remote.url, transport: 'streamable_http' };
    const created = await api.post('/admin/mcp-servers', {
      ...server,
      authorization: 'personal',
      oauth: client,
    });
    expect(created.body.data.oauth).toEqual({
      ...{ client_id: 'ahs', scopes: [], issuer: issuer.issuer, has_client_secret: true },
    });
    expect(JSON.stringify(created.body)).not.toContain('canary');
    const { url } = await begin(String(created.body.data.mcp_server_id));
    expect(new URL(url).searchParams.get('client_id')).toBe('ahs');
    const without = await api.post('/admin/mcp-servers', {
      ...{ ...server, name: 'without-issuer', oauth: { client_id: 'ahs', client_secret: 'canary' } },
    });
    expect(without.status).toBe(400);
  });
});

interface Listed {
  connections: { connection_id: string; mcp_server_id: string }[];
  available: { mcp_server_id: string }[];
}
