import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, startTeam, type Team } from '../../access/team.ts';
import { type A2aClient, createA2aClient } from './client.ts';

describe('A2A for several users', () => {
  let team: Team;
  let bob: Browser;
  let carol: Browser;
  beforeAll(async () => {
    team = await startTeam();
    [bob, carol] = await Promise.all([team.logIn('bob'), team.logIn('carol')]);
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const createAgent = async (members: object = {}) => {
    const agent = { name: 'Shared', model: 'rehearsal/echo', visibility: 'public', ...members };
    const { data } = await bob.send('POST', '/api/v1/agents', { exposure: { a2a: 'on' }, ...agent });
    return String(data.agent_id);
  };
  const connect = async (agent: string, browser: Browser, ...scopes: string[]): Promise<A2aClient> =>
    createA2aClient(team, agent, { authorization: `Bearer ${(await browser.token(scopes)).value}` });

  it('tasks and contexts of another user do not exist', async () => {
    const agent = await createAgent();
    const bobs = await connect(agent, bob, 'mcp');
    const carols = await connect(agent, carol, 'write');
    const { id, contextId } = (await bobs.send('one')).result.task;
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
      expect(await carols.rpc(method, { id })).toMatchObject({ error: { code: -32001 } });
    expect(await carols.send('two', { taskId: id })).toMatchObject({ error: { code: -32001 } });
    expect(await carols.send('two', { contextId })).toMatchObject({ error: { code: -32602 } });
    expect((await carols.rpc('ListTasks', {})).result.tasks).toEqual([]);
    expect((await carols.rpc('ListTasks', { contextId })).result.tasks).toEqual([]);
    expect((await bobs.rpc('ListTasks', {})).result.tasks).toMatchObject([{ id }]);
  });

  it('equal message ids of two users are two tasks', async () => {
    const agent = await createAgent();
    const clients = [await connect(agent, bob, 'mcp'), await connect(agent, carol, 'mcp')];
    const [one, two] = await Promise.all(clients.map((client) => client.send('hi', { messageId: 'm' })));
    expect(one?.result.task.contextId).not.toBe(two?.result.task.contextId);
  });

  it('an approval is decided only with the scope approve', async () => {
    const agent = await createAgent({
      model: 'rehearsal/script',
      model_options: { steps: [{ tool: 'calculator', input: { expression: '1 + 1' } }, { text: '2' }] },
      tools: [{ name: 'calculator', permission: 'ask' }],
    });
    const delegating = await connect(agent, bob, 'mcp', 'write');
    const { task } = (await delegating.send('go')).result;
    const decision = { approval_id: task.status.message.parts[1].data.approval_id, decision: 'allow' };
    expect(await delegating.send([{ data: decision }], { taskId: task.id })).toMatchObject({
      status: 403,
      id: 7,
      error: { data: [{ reason: 'SCOPE_INSUFFICIENT' }] },
    });
    expect((await delegating.rpc('GetTask', { id: task.id })).result).toEqual(task);
    const approving = await connect(agent, bob, 'mcp', 'approve');
    const { result } = await approving.send([{ data: decision }], { taskId: task.id });
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('names the token of the client as actor, and ignores logins', async () => {
    const agent = await createAgent();
    const { contextId } = (await (await connect(agent, bob, 'mcp')).send('one')).result.task;
    const { data } = await bob.get(`/api/v1/sessions/${contextId}/events?limit=1`);
    expect(data[0]).toMatchObject({ actor: { type: 'a2a', id: expect.stringMatching(/^tok_/) } });
    const login = createA2aClient(team, agent, { cookie: bob.jar.header() });
    expect(await login.send('one')).toMatchObject({ status: 401 });
    expect(await (await connect(agent, bob, 'read')).send('one')).toMatchObject({ status: 403 });
  });

  it('a task of an agent that is no longer shared does not exist', async () => {
    const agent = await createAgent();
    const carols = await connect(agent, carol, 'mcp');
    const { id } = (await carols.send('one')).result.task;
    await bob.send('PATCH', `/api/v1/agents/${agent}`, { visibility: 'private' });
    expect(await carols.rpc('GetTask', { id })).toMatchObject({ status: 404, id: 7 });
  });
});
