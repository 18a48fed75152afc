import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type McpTestServer, startMcpServer } from '../support/mcp-server.ts';
import { type System, startSystem } from '../support/system.ts';

const PATH = '/admin/mcp-servers';

describe(PATH, () => {
  let system: System;
  let api: Api;
  let remote: McpTestServer;
  beforeAll(async () => {
    remote = await startMcpServer({ find: { description: 'Finds.' }, send: { description: 'Sends.\u200b' } });
    system = await startSystem({ SERVICE_OUTBOUND_PRIVATE_HOSTS: `127.0.0.1:${remote.port}` });
    api = createApi(system.url);
  });
  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
    await remote?.[Symbol.asyncDispose]();
  });

  const request = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${system.url}/api/v1${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { data, error } = JSON.parse(await response.text());
    return { status: response.status, etag: response.headers.get('etag'), data, code: error?.code };
  };
  const create = async (name: string, url = remote.url) =>
    (await request('POST', PATH, { name, url, transport: 'streamable_http' })).data;

  it('leads from a probe over a review to the extensions of an agent', async () => {
    const created = await create('example');
    expect(created).toMatchObject({
      ...{ name: 'example', enabled: true, authorization: 'none', timeout_seconds: 60 },
      ...{ available_to: 'managers', revision: 1, catalogue: { state: 'unreviewed', seen_at: null } },
    });
    const path = `${PATH}/${created.mcp_server_id}`;
    expect(await request('GET', `${path}/catalogue`)).toMatchObject({
      status: 409,
      code: 'CATALOGUE_UNREVIEWED',
    });

    const { status, data: probe } = await request('POST', `${path}/probe`);
    expect(status).toBe(200);
    expect(probe).toMatchObject({
      ...{ reachable: true, protocol_version: '2026-07-28', problem: null },
      server: { name: 'test', title: 'Test server', version: '1.2.3' },
      catalogue: {
        tools: [
          { name: 'find', description: 'Finds.', input_schema: { type: 'object' }, warnings: [] },
          { name: 'send', warnings: [{ kind: 'invisible_characters', pointer: '/description' }] },
        ],
      },
      diff: { added: ['find', 'send'], removed: [], changed: [] },
    });
    const { sha256 } = probe.catalogue;
    const find = { name: 'find', offered: true, permission: 'ask', effect: 'read' };
    const send = { ...find, name: 'send', offered: false, permission: 'deny' };
    const incomplete = await request('PUT', `${path}/catalogue`, { sha256, tools: [find] });
    expect(incomplete).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
    const other = { sha256: sha256.replace(/^./, 'g'), tools: [find, send] };
    expect(await request('PUT', `${path}/catalogue`, other)).toMatchObject({ code: 'CATALOGUE_CHANGED' });
    const reviewed = await request('PUT', `${path}/catalogue`, { sha256, tools: [find, send] });
    expect(reviewed).toMatchObject({
      status: 200,
      etag: '"2"',
      data: { title: 'Test server', catalogue: { state: 'current', tool_count: 2, offered_count: 1 } },
    });
    expect((await request('GET', `${path}/catalogue`)).data).toMatchObject({
      tools: [
        { name: 'find', rule: { offered: true, permission: 'ask', effect: 'read' } },
        { name: 'send', rule: { offered: false } },
      ],
    });

    const agentId = await api.createAgent();
    const extensions = `/agents/${agentId}/extensions`;
    expect((await request('GET', extensions)).data.available.mcp_servers).toMatchObject([
      { name: 'example' },
    ]);
    const put = await request('PUT', extensions, { mcp_server_ids: [created.mcp_server_id] });
    expect(put).toMatchObject({
      ...{ status: 200, etag: '"2"' },
      data: {
        ...{ agent_id: agentId, version: 2, mcp_server_ids: [created.mcp_server_id] },
        mcp_servers: [{ name: 'example', state: 'ready', tool_count: 2, offered_count: 1 }],
        available: { mcp_servers: [] },
      },
    });
    expect(await request('DELETE', path)).toMatchObject({ status: 409, code: 'RESOURCE_IN_USE' });

    remote.tools.find = { description: 'Finds and sends.' };
    const again = await request('POST', `${path}/probe`, {});
    expect(again.data.diff).toEqual({
      ...{ added: [], removed: [] },
      changed: [{ name: 'find', members: ['description'] }],
    });
    expect((await request('GET', path)).data.catalogue).toMatchObject({ state: 'changed' });
    const later = { sha256: again.data.catalogue.sha256, tools: [send], pending: ['find'] };
    expect(await request('PUT', `${path}/catalogue`, later)).toMatchObject({
      ...{ status: 200, data: { catalogue: { state: 'changed', tool_count: 2, offered_count: 1 } } },
    });
    expect((await request('GET', `${path}/catalogue`)).data.tools).toMatchObject([
      { name: 'find', description: 'Finds.', rule: { offered: true } },
      { name: 'send' },
    ]);
    await request('PUT', extensions, { mcp_server_ids: [] });
    expect(await request('DELETE', path)).toMatchObject({ status: 200, data: { deleted: true } });
  });

  it('returns extensions of assistants without a version', async () => {
    const { mcp_server_id } = await create('for-assistants');
    const { data } = await request('POST', '/assistants', { name: 'Helper', model: 'rehearsal/echo' });
    const path = `/assistants/${data.assistant_id}/extensions`;
    const put = await request('PUT', path, { mcp_server_ids: [mcp_server_id] });
    expect(put.data).toMatchObject({ assistant_id: data.assistant_id, mcp_server_ids: [mcp_server_id] });
    expect(put.data).not.toHaveProperty('version');
    expect(await request('PUT', path, { mcp_server_ids: ['mcp_1'] })).toMatchObject({
      ...{ status: 404, code: 'MCP_SERVER_NOT_FOUND' },
    });
  });

  it('probes servers that refuse, redirect or do not exist with a problem, not an error', async () => {
    const refused = await create('refused', 'https://127.0.0.1/mcp');
    const problemOf = async ({ mcp_server_id }: { mcp_server_id: string }) =>
      (await request('POST', `${PATH}/${mcp_server_id}/probe`)).data;
    expect(await problemOf(refused)).toMatchObject({
      ...{ reachable: false, catalogue: null, diff: null, problem: { code: 'address_refused' } },
    });
    const locked = await create('locked');
    remote.authorization = 'Bearer needed';
    expect(await problemOf(locked)).toMatchObject({ reachable: false, problem: { code: 'unauthorized' } });
    remote.authorization = '';
    expect((await request('GET', `${PATH}/${locked.mcp_server_id}`)).data.catalogue.state).toBe(
      'unauthorized',
    );
  });

  it('tells the authorization server of a server that needs a credential', async () => {
    const { mcp_server_id } = await create('needs-oauth');
    const authorization = async () =>
      (await request('POST', `${PATH}/${mcp_server_id}/probe`)).data.authorization;
    expect(await authorization()).toEqual({
      ...{ needed: false, issuer: null, scopes_supported: [], registration: null },
    });
    remote.authorization = 'Bearer needed';
    expect(await authorization()).toMatchObject({ needed: true, issuer: null });
    const { origin } = new URL(remote.url);
    const resource = { resource: remote.url, authorization_servers: [origin], scopes_supported: ['read'] };
    remote.documents['/.well-known/oauth-protected-resource/mcp'] = resource;
    remote.documents['/.well-known/oauth-authorization-server'] = {
      ...{ issuer: origin, registration_endpoint: `${origin}/register` },
      code_challenge_methods_supported: ['S256'],
    };
    expect(await authorization()).toEqual({
      ...{ needed: true, issuer: origin, scopes_supported: ['read'], registration: 'dynamic' },
    });
    remote.authorization = '';
  });

  it('uses a shared credential for exactly this URL in a probe', async () => {
    const { mcp_server_id } = await create('with-credential');
    const path = `${PATH}/${mcp_server_id}/probe`;
    const vault = (await request('POST', '/admin/vaults', { name: 'probes' })).data;
    const credential = async (mcp_server_url: string) => {
      const body = { type: 'bearer', mcp_server_url, token: 'a-secret-of-the-probe' };
      return (await request('POST', `/admin/vaults/${vault.vault_id}/credentials`, body)).data.credential_id;
    };
    remote.authorization = 'Bearer a-secret-of-the-probe';
    const used = await request('POST', path, { credential_id: await credential(remote.url) });
    expect(used.data).toMatchObject({ reachable: true, problem: null });
    expect(JSON.stringify(used)).not.toContain('a-secret-of-the-probe');
    for (const credential_id of [await credential(`${remote.url}/other`), 'crd_1'])
      expect(await request('POST', path, { credential_id })).toMatchObject({ code: 'CREDENTIAL_NOT_FOUND' });
    remote.authorization = '';
  });

  it('refuses a change of name, URL or transport', async () => {
    const { mcp_server_id } = await create('fixed');
    for (const body of [{ name: 'other' }, { url: remote.url }, { transport: 'sse' }])
      expect(await request('PATCH', `${PATH}/${mcp_server_id}`, body)).toMatchObject({ status: 400 });
    expect(await request('PATCH', `${PATH}/${mcp_server_id}`, { enabled: false })).toMatchObject({
      ...{ status: 200, etag: '"2"', data: { enabled: false } },
    });
  });
});
