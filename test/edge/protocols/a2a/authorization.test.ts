import { expect, it } from 'vitest';
import { createApi } from '../../../support/api.ts';
import { AuthorizationServer, protectServer } from '../../../support/authorization-server.ts';
import { startMcpServer } from '../../../support/mcp-server.ts';
import { addReviewedServer } from '../../../support/reviewed-server.ts';
import { startInProcess } from '../../../support/system.ts';
import { answerOf, createA2aClient, resultsOf } from './client.ts';

it('an A2A task is AUTH_REQUIRED while its user must connect to an MCP server, and goes on by itself', async () => {
  await using issuer = await AuthorizationServer.open({});
  const call = () => ({ content: [{ type: 'text' as const, text: 'found' }] });
  await using remote = await startMcpServer({ find: { description: 'Finds.', call } });
  const hosts = [remote.port, issuer.port].map((port) => `127.0.0.1:${port}`);
  await using system = await startInProcess({ SERVICE_OUTBOUND_PRIVATE_HOSTS: hosts.join(',') });
  issuer.origin = system.url;
  const api = createApi(system.url);
  const mcpServerId = await addReviewedServer(api, remote, 'notes');
  protectServer(remote, issuer);
  const steps = [{ tool: 'mcp__notes__find', input: {} }, { text: 'Done.' }];
  const model = { model: 'rehearsal/script', model_options: { steps } };
  const agentId = await api.createAgent({ ...model, exposure: { a2a: 'on' } });
  await api.send('PUT', `/agents/${agentId}/extensions`, { mcp_server_ids: [mcpServerId], skill_ids: [] });
  const client = createA2aClient(system, agentId);

  const { task } = (await client.send('go')).result;
  expect(task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  const [text, ...data] = task.status.message.parts;
  expect(text.text).toContain(`${system.url}/sessions/${task.contextId}`);
  expect(data).toEqual([]);
  const listed = await client.rpc('ListTasks', { status: 'TASK_STATE_AUTH_REQUIRED' });
  expect(listed.result.tasks).toMatchObject([{ id: task.id }]);

  const events = resultsOf(await client.open('SubscribeToTask', { id: task.id }));
  expect((await events.next()).value.task.status.state).toBe('TASK_STATE_AUTH_REQUIRED');
  const begun = await api.post('/auth/connections', { mcp_server_id: mcpServerId, return_to: '/' });
  const cookie = begun.headers.getSetCookie().map((line) => line.split(';')[0]);
  const query = await issuer.authorize(String(begun.body.data.authorization_url), 'ada');
  const callback = `${system.url}/api/v1/auth/connections/callback?${query}`;
  await fetch(callback, { headers: { cookie: cookie.join('; ') }, redirect: 'manual' });
  const rest = await Array.fromAsync(events);
  expect(rest.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
  expect(answerOf((await client.rpc('GetTask', { id: task.id })).result)).toBe('Done.');
});
