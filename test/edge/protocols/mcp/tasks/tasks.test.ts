import { DetailedTaskV2Schema, isCreateTaskResultV2 } from '@modelcontextprotocol/ext-tasks/core/v2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sendMcpRequest } from '../../../../support/mcp-requests.ts';
import { connectTaskClient, TASK_CAPABILITIES } from '../../../../support/mcp-tasks.ts';
import { until } from '../../../../support/wait.ts';
import { type Browser, startTeam, type Team } from '../../../access/team.ts';

const NEVER_MS = 3_600_000;
const script = (name: string, ...steps: object[]) => ({
  name,
  model: 'rehearsal/script',
  model_options: { steps },
});
const CALCULATION = { tool: 'calculator', input: { expression: '6 * 7' } };
const APPROVED = {
  ...script('Asks first', CALCULATION, { text: 'It is 42.' }),
  tools: [{ name: 'calculator', permission: 'ask' }],
};
const QUESTION = {
  tool: 'ask_user',
  input: {
    question: 'Which size?',
    schema: {
      type: 'object',
      required: ['size'],
      properties: { size: { type: 'string', enum: ['S', 'M'] } },
    },
  },
};
const TASK = /^task_[0-9A-Z]{52}[\w-]{43}$/;

describe('tasks of /mcp', () => {
  let team: Team;
  let alice: Browser;
  let bob: Browser;
  let token: string;
  beforeAll(async () => {
    team = await startTeam();
    [alice, bob] = await Promise.all([team.logIn('alice'), team.logIn('bob')]);
    token = (await bob.token(['mcp'])).value;
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const createAgent = async (members: object) =>
    String((await bob.post('/api/v1/agents', members)).data.agent_id);
  const send = (method: string, params: Record<string, unknown>, options: object = {}) =>
    sendMcpRequest(`${team.url}/mcp`, method, params, {
      token,
      capabilities: TASK_CAPABILITIES,
      ...options,
    });
  const begin = async (agentId: string, more: object = {}) => {
    const args = { agent_id: agentId, message: 'Go', ...more };
    const { result, error } = await send('tools/call', { name: 'create_conversation', arguments: args });
    if (!result) throw new Error(JSON.stringify(error));
    expect(isCreateTaskResultV2(result)).toBe(true);
    return String(result.taskId);
  };
  const get = async (taskId: string, options: object = {}) => {
    const { result, error } = await send('tasks/get', { taskId }, options);
    if (!result) throw new Error(JSON.stringify(error));
    expect(result.resultType).toBe('complete');
    return DetailedTaskV2Schema.parse(result);
  };
  const inStatus = (taskId: string, status: string) =>
    until(`the task is ${status}`, async () => {
      const task = await get(taskId);
      return task.status === status && task;
    });

  it('run the tools that wait for an agent, and return their result', async () => {
    const agentId = await createAgent({ name: 'Echo', model: 'rehearsal/echo' });
    await using client = await connectTaskClient(`${team.url}/mcp`, { token });
    const ask = `ask_echo_${agentId.slice(-4).toLowerCase()}`;
    const asked = await client.callTool(ask, { message: 'Hello' });
    expect([asked.kind, asked.handle?.taskId]).toEqual(['task', expect.stringMatching(TASK)]);
    const { outcome } = await asked.settle();
    if (outcome.status !== 'completed') throw new Error(outcome.status);
    expect(outcome.result).toMatchObject({
      structuredContent: { status: 'completed', text: 'Hello' },
      content: [{ type: 'text' }],
    });
    const { session_id } = outcome.result.structuredContent as { session_id: string };
    const sent = await client.callTool('send_message', { session_id, message: 'Again' });
    expect(sent.kind).toBe('task');
    expect((await sent.settle()).outcome).toMatchObject({
      status: 'completed',
      result: { structuredContent: { session_id, text: 'Again' } },
    });
    // Without a turn there is no task.
    const empty = await client.callTool('create_conversation', { agent_id: agentId });
    expect(empty.kind).toBe('immediate');
    const listed = await client.callTool('list_agents', {});
    expect(listed.kind).toBe('immediate');
  });

  it('are working while the turn is queued and in progress, and cancelled with it', async () => {
    const agentId = await createAgent(script('Slow', { text: 'never', delay_ms: NEVER_MS }));
    const taskId = await begin(agentId);
    const running = await until('the turn has started', async () => {
      const task = await get(taskId);
      return task.statusMessage?.startsWith('Step') && task;
    });
    expect(running).toMatchObject({ status: 'working', ttlMs: null, pollIntervalMs: 2_000 });
    const { data } = await bob.get(`/api/v1/sessions?agent_id=${agentId}`);
    const [session] = data as { session_id: string }[];
    const next = { session_id: session?.session_id, message: 'Next' };
    const queued = await send('tools/call', { name: 'send_message', arguments: next });
    const queuedId = String(queued.result?.taskId);
    expect(await get(queuedId)).toMatchObject({ status: 'working', statusMessage: 'The turn is queued.' });

    const cancelled = await send('tasks/cancel', { taskId: queuedId });
    expect(Object.keys(cancelled.result ?? {}).toSorted()).toEqual(['_meta', 'resultType']);
    expect(await get(queuedId)).toMatchObject({ status: 'cancelled' });
    expect(await get(taskId)).toMatchObject({ status: 'working' });
    await send('tasks/cancel', { taskId });
    expect(await inStatus(taskId, 'cancelled')).toMatchObject({
      statusMessage: 'The turn was interrupted.',
    });
    expect((await send('tasks/cancel', { taskId })).result?.resultType).toBe('complete');
    expect(await get(taskId)).toMatchObject({ status: 'cancelled' });
  });

  it('are the same for a repeated call, and failed with the error of the turn', async () => {
    const agentId = await createAgent(script('Fails', { error: { kind: 'bad_request' } }));
    const taskId = await begin(agentId, { idempotency_key: 'once' });
    expect(await begin(agentId, { idempotency_key: 'once' })).toBe(taskId);
    const failed = await inStatus(taskId, 'failed');
    expect(failed).toMatchObject({
      error: {
        code: -32603,
        message: expect.stringMatching(/./),
        data: { code: 'model_bad_request', session_id: expect.stringMatching(/^ses_/) },
      },
    });
  });

  it('let only a client with the scope approve decide about a tool call', async () => {
    const agentId = await createAgent(APPROVED);
    const taskId = await begin(agentId);
    const waiting = await inStatus(taskId, 'input_required');
    if (waiting.status !== 'input_required') throw new Error(waiting.status);
    const [[key, request] = []] = Object.entries(waiting.inputRequests);
    const id = /apr_[0-9A-Z]{26}/.exec(key ?? '')?.[0];
    const page = expect.stringMatching(/^http:.*\/sessions\/ses_/);
    expect([key, request]).toMatchObject([`page:approval:${id}`, { params: { mode: 'url', url: page } }]);
    const allow = { action: 'accept', content: { decision: 'allow' } };
    // The key of the page carries no decision, and that of the form needs the scope.
    for (const [name, code] of [
      [`page:approval:${id}`, undefined],
      ['unknown', undefined],
      [`approval:${id}`, -32602],
    ] as const) {
      const answered = await send('tasks/update', { taskId, inputResponses: { [name]: allow } });
      expect(answered.error?.code, name).toBe(code);
    }
    expect(await get(taskId)).toMatchObject({ status: 'input_required' });

    const approving = { token: (await bob.token(['mcp', 'approve'])).value };
    expect(
      await get(taskId, { ...approving, capabilities: { extensions: TASK_CAPABILITIES.extensions } }),
    ).toMatchObject({
      inputRequests: {},
      statusMessage: expect.stringContaining('/sessions/ses_'),
    });
    expect(await get(taskId, approving)).toMatchObject({
      inputRequests: {
        [`approval:${id}`]: {
          method: 'elicitation/create',
          params: {
            mode: 'form',
            message: expect.stringContaining('"expression": "6 * 7"'),
            requestedSchema: { properties: { decision: { enum: ['allow', 'deny'] } } },
          },
        },
      },
    });
    for (const response of [
      { action: 'accept' },
      { action: 'accept', content: { decision: 'maybe' } },
      { action: 1 },
      5,
    ]) {
      const refused = await send(
        'tasks/update',
        { taskId, inputResponses: { [`approval:${id}`]: response } },
        approving,
      );
      expect(refused.error).toMatchObject({ code: -32602, data: { code: 'INVALID_REQUEST' } });
    }
    const dismissed = { taskId, inputResponses: { [`approval:${id}`]: { action: 'cancel' } } };
    expect((await send('tasks/update', dismissed, approving)).result?.resultType).toBe('complete');
    expect(await get(taskId)).toMatchObject({ status: 'input_required' });
    const given = { taskId, inputResponses: { [`approval:${id}`]: allow } };
    expect((await send('tasks/update', given, approving)).result?.resultType).toBe('complete');
    expect(await inStatus(taskId, 'completed')).toMatchObject({
      result: { structuredContent: { text: 'It is 42.' } },
    });
    expect((await send('tasks/update', given, approving)).result?.resultType).toBe('complete');
  });

  it('show an approval and a question to the user of a client, who answers both', async () => {
    const agentId = await createAgent({
      ...script('Two', CALCULATION, QUESTION, { text: 'Both: {{last_tool_output}}' }),
      tools: [{ name: 'calculator', permission: 'ask' }],
    });
    const { value } = await bob.token(['mcp', 'approve']);
    const asked: unknown[] = [];
    await using client = await connectTaskClient(`${team.url}/mcp`, {
      token: value,
      answer({ params }) {
        asked.push(params?.message);
        const isQuestion = params?.message === 'Which size?';
        return isQuestion ? { action: 'accept', content: { size: 'M' } } : { action: 'decline' };
      },
    });
    const execution = await client.callTool('create_conversation', { agent_id: agentId, message: 'Go' });
    const { outcome } = await execution.settle();
    expect(outcome).toMatchObject({
      status: 'completed',
      result: { structuredContent: { status: 'completed', text: expect.stringContaining('Both') } },
    });
    expect(asked).toHaveLength(2);
    if (outcome.status !== 'completed') throw new Error(outcome.status);
    const { session_id } = outcome.result.structuredContent as { session_id: string };
    const { data } = await bob.get(`/api/v1/sessions/${session_id}/approvals`);
    expect(data).toMatchObject([{ status: 'decided', decision: 'deny' }]);
  });

  it('give the answer to a question with the scope mcp alone', async () => {
    const agentId = await createAgent(script('Sizes', QUESTION, { text: 'Chosen: {{last_tool_output}}' }));
    await using client = await connectTaskClient(`${team.url}/mcp`, {
      token,
      answer: () => ({ action: 'accept', content: { size: 'S' } }),
    });
    const execution = await client.callTool('create_conversation', { agent_id: agentId, message: 'Go' });
    expect((await execution.settle()).outcome).toMatchObject({
      status: 'completed',
      result: { structuredContent: { text: expect.stringMatching(/Chosen: .*S/) } },
    });
  });

  it('are not found when altered, of another user, or of an agent that is no longer exposed', async () => {
    const agentId = await createAgent({ name: 'Hidden', model: 'rehearsal/echo' });
    const taskId = await begin(agentId);
    await inStatus(taskId, 'completed');
    const last = taskId.endsWith('A') ? 'B' : 'A';
    const foreign = { token: (await alice.token(['mcp', 'approve'])).value };
    const errorsOf = async (id: string, options: object) =>
      Promise.all(
        (['tasks/get', 'tasks/update', 'tasks/cancel'] as const).map(async (method) => {
          const { status, error } = await send(method, { taskId: id, inputResponses: {} }, options);
          const { request_id: _, ...data } = error?.data ?? {};
          return { status, ...error, data };
        }),
      );
    const altered = await errorsOf(taskId.slice(0, -1) + last, {});
    expect(altered[0]).toMatchObject({ code: -32602, data: { code: 'TURN_NOT_FOUND' } });
    expect(new Set(altered.map((error) => JSON.stringify(error))).size).toBe(1);
    expect(await errorsOf(taskId, foreign)).toEqual(altered);
    expect(await errorsOf('unknown', {})).toEqual(altered);
    await bob.send('PATCH', `/api/v1/agents/${agentId}`, { exposure: { mcp: 'off' } });
    expect(await errorsOf(taskId, {})).toEqual(altered);
  });

  it('need the capability of the client in each request, and the newer revision', async () => {
    const agentId = await createAgent({ name: 'Plain', model: 'rehearsal/echo' });
    const taskId = await begin(agentId);
    for (const capabilities of [{}, { extensions: { 'io.modelcontextprotocol/tasks': { x: 1 } } }])
      for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel'])
        expect(await send(method, { taskId, inputResponses: {} }, { capabilities })).toMatchObject({
          error: {
            code: -32021,
            data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
          },
        });
    const args = { agent_id: agentId, message: 'Go', wait_seconds: 30 };
    const plain = await send(
      'tools/call',
      { name: 'create_conversation', arguments: args },
      { capabilities: {} },
    );
    expect(plain.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { status: 'completed' },
    });
    const response = await fetch(`${team.url}/mcp`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
        'mcp-protocol-version': '2025-11-25',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tasks/get', params: { taskId } }),
    });
    expect(await response.text()).toContain('-32601');
  });

  it('refuse malformed requests and headers that contradict the body', async () => {
    const taskId = await begin(await createAgent({ name: 'Right', model: 'rehearsal/echo' }));
    expect(await send('tasks/get', { taskId }, { headers: { 'mcp-name': 'other' } })).toMatchObject({
      status: 400,
      error: { code: -32020 },
    });
    for (const [method, params] of [
      ['tasks/get', {}],
      ['tasks/get', { taskId: 5 }],
      ['tasks/update', { taskId }],
      ['tasks/update', { taskId, inputResponses: [] }],
      ['tasks/cancel', { taskId: null }],
    ] as const)
      expect(await send(method, params), method).toMatchObject({ error: { code: -32602 } });
    const notifications = { taskIds: [taskId], resourceSubscriptions: [] };
    expect(await send('subscriptions/listen', { notifications }, { capabilities: {} })).toMatchObject({
      status: 400,
      error: { code: -32021 },
    });
    const listened = await send('subscriptions/listen', { notifications });
    expect(listened.result).toMatchObject({ resultType: 'complete' });
    for (const method of ['tasks/list', 'tasks/result'])
      expect(await send(method, { taskId })).toMatchObject({ error: { code: -32601 } });
  });
});
