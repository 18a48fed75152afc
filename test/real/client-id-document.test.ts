import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../support/api.ts';
import { AuthorizationServer, protectServer } from '../support/authorization-server.ts';
import { createAuthority } from '../support/certificates.ts';
import { startFleet } from '../support/fleet.ts';
import { type HttpsSite, openHttpsSite } from '../support/https-site.ts';
import { type McpTestServer, startMcpServer } from '../support/mcp-server.ts';
import { addReviewedServer } from '../support/reviewed-server.ts';
import { scratch } from '../support/scratch.ts';
import { rowsOn } from '../support/sql.ts';
import { until } from '../support/wait.ts';

const NAME = 'agents.example';
const DOCUMENT = '/api/v1/auth/connections/client.json';
const CALLBACK = '/api/v1/auth/connections/callback';
/** The navigation with which a browser follows the redirect of another site. */
const NAVIGATION = {
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

describe('the client id metadata document of a service behind TLS', () => {
  const stack = new AsyncDisposableStack();
  const authority = createAuthority('a certificate authority of the test');
  const trusted = getCACertificates('default');
  let site: HttpsSite;
  let issuer: AuthorizationServer;
  let remote: McpTestServer;
  let api: Api;
  let databaseUrl: string;
  let calls = 0;

  beforeAll(async () => {
    setDefaultCACertificates([...trusted, authority.cert]);
    stack.defer(() => setDefaultCACertificates(trusted));
    issuer = stack.use(
      await AuthorizationServer.open({
        origin: `https://${NAME}`,
        certificate: authority.issue(),
        fetchDocument: ({ hostname, pathname }) => {
          expect(hostname).toBe(NAME);
          return site.get(pathname);
        },
      }),
    );
    const find = {
      description: 'Finds.',
      call: () => {
        calls += 1;
        return { content: [{ type: 'text' as const, text: 'found' }] };
      },
    };
    remote = stack.use(await startMcpServer({ find }));
    const folder = await mkdtemp(join(scratch(), 'ahs-ca-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'ca.pem'), authority.cert);
    const fleet = stack.use(
      await startFleet({
        NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem'),
        SERVICE_PUBLIC_URL: `https://${NAME}`,
        SERVICE_OUTBOUND_PRIVATE_HOSTS: [remote, issuer].map(({ port }) => `127.0.0.1:${port}`).join(),
      }),
    );
    databaseUrl = fleet.databaseUrl;
    api = fleet.api;
    const certificate = authority.issue({ names: [NAME] });
    site = stack.use(
      await openHttpsSite({ name: NAME, certificate, ca: authority.cert, target: fleet.api.origin }),
    );
  });
  afterAll(() => stack.disposeAsync());

  async function createServer(): Promise<string> {
    const id = await addReviewedServer(api, remote, 'remote');
    protectServer(remote, issuer);
    return id;
  }

  const begin = async (agentId: string) => {
    const { body } = await api.post(`/agents/${agentId}/conversations`, { message: 'Go' });
    return `/sessions/${body.data.session_id}`;
  };
  const waitUntilCompleted = (session: string) =>
    until('the session is completed', async () => (await api.get(session)).body.data.state === 'completed');

  it('identifies the service at an authorization server that fetches it, from consent to refresh and revocation', async () => {
    const mcpServerId = await createServer();
    const steps = [{ tool: 'mcp__remote__find', input: {} }, { text: 'Done.' }];
    const agentId = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    await api.send('PUT', `/agents/${agentId}/extensions`, { mcp_server_ids: [mcpServerId], skill_ids: [] });
    const session = await begin(agentId);
    await until('the turn waits for the connection', async () => {
      const { body } = await api.get(`${session}/approvals`);
      return body.data.length > 0;
    });

    const beginning = { mcp_server_id: mcpServerId, return_to: session };
    const { status, body, headers } = await api.post('/auth/connections', beginning);
    expect(status).toBe(201);
    const url = new URL(String(body.data.authorization_url));
    expect(url.origin).toBe(issuer.issuer);
    const clientId = `https://${NAME}${DOCUMENT}`;
    expect(url.searchParams.get('client_id')).toBe(clientId);
    expect(url.searchParams.get('redirect_uri')).toBe(`https://${NAME}${CALLBACK}`);

    const query = await issuer.authorize(url.href, 'ada');
    expect(site.requests).toEqual([`GET ${DOCUMENT}`]);
    const [cookie = ''] = headers.getSetCookie().map((line) => line.split(';')[0]);
    const redirected = await site.get(`${CALLBACK}?${query}`, { ...NAVIGATION, cookie });
    expect(redirected.status).toBe(302);
    expect(redirected.headers.get('location')).toBe(session);
    await redirected.body?.cancel();
    await waitUntilCompleted(session);
    expect(calls).toBe(1);

    const end = `update vaults.credentials set expires_at = now() - interval '1 second' returning credential_id`;
    expect(await rowsOn(databaseUrl, end)).toHaveLength(1);
    await waitUntilCompleted(await begin(agentId));
    expect(calls).toBe(2);
    expect(issuer.requests).not.toContain('POST /reg');
    const sent = issuer.tokenRequests.map((params) => [params.get('grant_type'), params.get('client_id')]);
    expect(sent).toEqual([
      ['authorization_code', clientId],
      ['refresh_token', clientId],
    ]);

    const list = await api.get('/auth/connections');
    const { connections } = list.body.data as unknown as { connections: { connection_id: string }[] };
    const ended = await api.send('DELETE', `/auth/connections/${connections[0]?.connection_id}`);
    expect(ended.status).toBe(200);
    expect(issuer.requests).toContain('POST /token/revocation');
  });
});
