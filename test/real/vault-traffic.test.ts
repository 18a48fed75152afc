import { describe, expect, it } from 'vitest';
import { CREDENTIALS } from '../edge/vaults/credential-bodies.ts';
import type { Api } from '../support/api.ts';
import { Canaries } from '../support/canaries.ts';
import { startFleet } from '../support/fleet.ts';
import { startMcpServer } from '../support/mcp-server.ts';
import { recordCalls } from '../support/recorded-traffic.ts';
import { until } from '../support/wait.ts';

describe('calls between processes without TLS', () => {
  it('contain no secret of a credential', async () => {
    await using stack = new AsyncDisposableStack();
    const calls = stack.use(recordCalls());
    const remote = stack.use(await startMcpServer({ find: {} }));
    const fleet = stack.use(
      await startFleet({ SERVICE_OUTBOUND_PRIVATE_HOSTS: `127.0.0.1:${remote.port}` }, calls),
    );
    const { api } = fleet;
    const canaries = new Canaries();
    const vault = (await api.post('/admin/vaults', { name: 'visible-name' })).body.data.vault_id;
    const all = `/admin/vaults/${vault}/credentials`;
    for (const { body, secret } of CREDENTIALS) {
      const creation = { ...body, [secret]: canaries.create(`${body.type}-first`) };
      const created = await api.post(all, creation, { 'Idempotency-Key': String(body.type) });
      expect(created.status, JSON.stringify(created.body)).toBe(201);
      const one = `${all}/${created.body.data.credential_id}`;
      const changed = await api.send('PATCH', one, { [secret]: canaries.create(`${body.type}-second`) });
      expect(changed.status).toBe(200);
      expect((await api.post(`${one}/test`)).status).toBe(200);
    }
    const token = canaries.create('lent');
    remote.authorization = `Bearer ${token}`;
    const binding = { type: 'bearer', mcp_server_url: remote.url };
    const lent = (await api.post(all, { ...binding, token })).body.data.credential_id;
    await callRemoteTool(api, { url: remote.url, vault, credential: lent });

    const rotation = await api.post('/admin/vaults/rotate', { vault_id: vault });
    await until('the rotation is done', async () => {
      const { body } = await api.get(`/admin/vaults/rotations/${rotation.body.data.rotation_id}`);
      return body.data.status === 'done';
    });
    const traffic = calls.bytes();
    // The recording works: public members are readable in it.
    for (const text of ['visible-name', 'GITHUB_TOKEN', 'mcp.example.com'])
      expect(traffic.get('vaults')?.includes(text), text).toBe(true);
    const found = [...traffic].flatMap(([service, bytes]) =>
      canaries.in(bytes).map((name) => `${service}: ${name}`),
    );
    expect(found).toEqual([]);
    for (const name of fleet.names) expect(canaries.in(fleet.outputOf(name)), name).toEqual([]);
  });
});

/** Runs a turn that calls the tool `find` of an MCP server with a credential of a vault. */
async function callRemoteTool(
  api: Api,
  { url, vault, credential }: { url: string; vault: unknown; credential: unknown },
): Promise<void> {
  const server = { name: 'example', url, transport: 'streamable_http', authorization: 'shared' };
  const serverId = (await api.post('/admin/mcp-servers', server)).body.data.mcp_server_id;
  const path = `/admin/mcp-servers/${serverId}`;
  const probe = await api.post(`${path}/probe`, { credential_id: credential });
  const { sha256 } = probe.body.data.catalogue as { sha256: string };
  const rule = { name: 'find', offered: true, permission: 'allow', effect: 'read' };
  const reviewed = await api.send('PUT', `${path}/catalogue`, { sha256, tools: [rule] });
  expect(reviewed.status, JSON.stringify(reviewed.body)).toBe(200);
  const steps = [{ tool: 'mcp__example__find', input: {} }, { text: '{{last_tool_output}}' }];
  const agent = { name: 'Caller', model: 'rehearsal/script', model_options: { steps } };
  const agentId = (await api.post('/agents', agent)).body.data.agent_id;
  await api.send('PUT', `/agents/${agentId}/extensions`, { mcp_server_ids: [serverId] });
  await api.send('PUT', `/admin/agents/${agentId}/vaults`, { vault_ids: [vault] });
  const turn = await api.post(`/agents/${agentId}/conversations`, { message: 'Find.', wait_seconds: 30 });
  expect(JSON.stringify(turn.body)).toContain('find ran');
}
