import { describe, expect, it } from 'vitest';
import { dataOfCreated } from '../support/api.ts';
import { cleanUpInstallations, createUsedInstallation } from '../support/installations.ts';
import { startMcpServer, type TestTool } from '../support/mcp-server.ts';
import { until } from '../support/wait.ts';

describe('agent.tools_offered', () => {
  cleanUpInstallations();

  it('is journaled once while the program is killed between two turns and during a tool call', async () => {
    let calls = 0;
    let isHeld = false;
    const find: TestTool = {
      call: async () => {
        calls++;
        if (isHeld) await new Promise(() => {});
        return { content: [{ type: 'text', text: 'found it' }] };
      },
    };
    await using remote = await startMcpServer({ find });
    const installation = await createUsedInstallation();
    const { api } = installation;
    const env = {
      SERVICE_OUTBOUND_PRIVATE_HOSTS: `127.0.0.1:${remote.port}`,
      SERVICE_TURN_LEASE_SECONDS: '5',
    };
    let program = await installation.start(env);
    const restart = async () => {
      program.kill('SIGKILL');
      await program.exited;
      program = await installation.start(env);
    };

    const server = { name: 'example', url: remote.url, transport: 'streamable_http' };
    const { mcp_server_id: serverId } = dataOfCreated(await api.post('/admin/mcp-servers', server));
    const probe = (await api.post(`/admin/mcp-servers/${serverId}/probe`)).body.data;
    const { sha256 } = probe.catalogue as { sha256: string };
    const tools = [{ name: 'find', offered: true, permission: 'allow', effect: 'read' }];
    const reviewed = await api.send('PUT', `/admin/mcp-servers/${serverId}/catalogue`, { sha256, tools });
    expect(reviewed.status).toBe(200);
    const steps = [{ tool: 'mcp__example__find', input: {} }, { text: 'Done' }];
    const agentId = await api.createAgent({ model: 'rehearsal/script', model_options: { steps } });
    await api.send('PUT', `/agents/${agentId}/extensions`, { mcp_server_ids: [serverId] });
    const created = await api.post(`/agents/${agentId}/conversations`, { message: 'Go', wait_seconds: 60 });
    const sessionId = String(created.body.data.session_id);
    const eventsOf = async (type: string) =>
      (await api.list<{ type: string }>(`/sessions/${sessionId}/events?limit=100`)).filter(
        (event) => event.type === type,
      );
    expect(await eventsOf('turn.completed')).toHaveLength(1);
    expect(await eventsOf('agent.tools_offered')).toHaveLength(1);

    await restart();
    isHeld = true;
    await api.post(`/sessions/${sessionId}/messages`, { content: 'Again' });
    await until('the tool runs', () => calls === 2);
    isHeld = false;
    await restart();
    await until('the turn is completed', async () => (await eventsOf('turn.completed')).length === 2);
    expect(calls).toBe(3);
    expect(await eventsOf('agent.tools_offered')).toHaveLength(1);
  });
});
