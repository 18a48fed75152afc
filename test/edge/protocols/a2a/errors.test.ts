import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { type A2aClient, createA2aClient, sendRequest } from './client.ts';

const request = (members: object) => ({ jsonrpc: '2.0', id: 7, method: 'ListTasks', params: {}, ...members });
const ERROR_INFO = 'type.googleapis.com/google.rpc.ErrorInfo';

describe('errors of A2A', () => {
  let system: System;
  let api: Api;
  let client: A2aClient;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    client = createA2aClient(system, await api.createAgent({ exposure: { a2a: 'on' } }));
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const post = async (body: unknown, headers?: Record<string, string>) => {
    const response = await client.post(body, headers);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  it.each([
    ['text that is no JSON', '{', -32700, null],
    ['a batch', [request({})], -32600, null],
    ['a text', '"ListTasks"', -32600, null],
    ['another version of JSON-RPC', request({ jsonrpc: '1.0' }), -32600, 7],
    ['a notification', { ...request({}), id: undefined }, -32600, null],
    ['an id of another type', request({ id: {} }), -32600, null],
    ['a response', { jsonrpc: '2.0', id: 7, result: {} }, -32600, 7],
    ['parameters that are a list', request({ params: [] }), -32602, 7],
  ])('refuses %s', async (_, body, code, id) => {
    expect(await post(body)).toMatchObject({ status: 400, body: { jsonrpc: '2.0', id, error: { code } } });
  });

  it('refuses unknown methods, also those of version 0.3', async () => {
    for (const method of ['message/send', 'Send', 'constructor', ''])
      expect(await client.rpc(method, {})).toMatchObject({
        id: 7,
        error: { code: method === '' ? -32600 : -32601 },
      });
  });

  it.each([[''], ['0.3'], ['1.1'], ['x']])('refuses the version %j', async (version) => {
    expect(await post(request({}), { 'A2A-Version': version })).toMatchObject({
      status: 200,
      body: {
        id: 7,
        error: { code: -32009, data: [{ '@type': ERROR_INFO, reason: 'VERSION_NOT_SUPPORTED' }] },
      },
    });
  });

  it.each([
    'CreateTaskPushNotificationConfig',
    'GetTaskPushNotificationConfig',
    'ListTaskPushNotificationConfigs',
    'DeleteTaskPushNotificationConfig',
  ])('says to %s that push notifications are not supported', async (method) => {
    expect(await client.rpc(method, { taskId: 'x' })).toMatchObject({
      status: 200,
      error: {
        code: -32003,
        data: [{ reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED', domain: 'a2a-protocol.org' }],
      },
    });
  });

  it('refuses a message that asks for push notifications, and starts nothing', async () => {
    const taskPushNotificationConfig = { url: 'https://example.com' };
    const answer = await client.send('hi', {}, { taskPushNotificationConfig });
    expect(answer).toMatchObject({ error: { code: -32003 } });
    expect(await api.list('/sessions')).toEqual([]);
  });

  it('has no extended card', async () => {
    expect(await client.rpc('GetExtendedAgentCard', {})).toMatchObject({ error: { code: -32004 } });
  });

  it('does not find unknown tasks', async () => {
    const ids = ['x', 'trn_01M7XYC91CC5TE06JQWDWRTJVA', ''.padEnd(200, '-')];
    ids.push('trn_01M7XYC91CC5TE06JQWDWRTJVA-01M7XYC91CC5TE06JQWDWRTJVA');
    for (const id of ids) {
      const unknown = { status: 200, id: 7, error: { code: -32001, data: [{ reason: 'TASK_NOT_FOUND' }] } };
      for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
        expect(await client.rpc(method, { id }), method).toMatchObject(unknown);
      for (const method of ['SendMessage', 'SendStreamingMessage'])
        expect(await client.rpc(method, sendRequest('hi', { taskId: id })), method).toMatchObject(unknown);
    }
    expect(await api.list('/sessions')).toEqual([]);
  });

  it.each([
    ['no message', {}],
    ['no id', { message: { role: 'ROLE_USER', parts: [{ text: 'hi' }] } }],
    ['the role of the agent', sendRequest('hi', { role: 'ROLE_AGENT' })],
    ['no parts', sendRequest([])],
    ['an empty part', sendRequest([{}])],
    ['a part with two contents', sendRequest([{ text: 'hi', data: 1 }])],
    ['a remote file', sendRequest([{ url: 'https://example.com/a.png', mediaType: 'image/png' }])],
    ['bytes that are no Base64', sendRequest([{ raw: '!', mediaType: 'text/plain' }])],
    ['an unknown context', sendRequest('hi', { contextId: 'ses_01M7XYC91CC5TE06JQWDWRTJVA' })],
    ['a malformed context', sendRequest('hi', { contextId: '../x' })],
    ['a negative history', sendRequest('hi', {}, { historyLength: -1 })],
  ])('refuses a message with %s, and starts nothing', async (_, params) => {
    for (const method of ['SendMessage', 'SendStreamingMessage'])
      expect(await client.rpc(method, params)).toMatchObject({ id: 7, error: { code: -32602 } });
    expect(await api.list('/sessions')).toEqual([]);
  });

  it('names the members that are invalid', async () => {
    expect(
      await client.rpc('SendMessage', sendRequest([{ url: 'https://example.com/a.png' }])),
    ).toMatchObject({
      status: 400,
      error: {
        data: [
          { '@type': ERROR_INFO, reason: 'INVALID_REQUEST', metadata: { request_id: expect.any(String) } },
          { fieldViolations: [{ field: '/message/parts/0/url' }] },
        ],
      },
    });
  });

  it('refuses a finished task that is sent a message or canceled', async () => {
    const { id: taskId } = (await client.send('hi')).result.task;
    expect(await client.send('more', { taskId })).toMatchObject({ error: { code: -32004 } });
    expect(await client.rpc('CancelTask', { id: taskId })).toMatchObject({
      error: { code: -32002, data: [{ reason: 'TASK_NOT_CANCELABLE' }] },
    });
  });

  it('does not find an agent that is not exposed, and names the state of a disabled one', async () => {
    const agent = await api.createAgent();
    const hidden = createA2aClient(system, agent);
    const notFound = { status: 404, id: 7, error: { data: [{ reason: 'AGENT_NOT_FOUND' }] } };
    expect(await hidden.send('hi')).toMatchObject(notFound);
    expect(await hidden.rpc('ListTasks', {})).toMatchObject(notFound);
    await api.send('PATCH', `/agents/${agent}`, { exposure: { a2a: 'on' }, enabled: false });
    expect(await hidden.send('hi')).toMatchObject({
      status: 409,
      error: { data: [{ reason: 'AGENT_NOT_RUNNABLE' }] },
    });
    expect(await createA2aClient(system, 'agt_x').send('hi')).toMatchObject({ status: 404, id: 7 });
  });

  it('does not find the task of another agent', async () => {
    const { id, contextId } = (await client.send('hi')).result.task;
    const other = createA2aClient(system, await api.createAgent({ exposure: { a2a: 'on' } }));
    expect(await other.rpc('GetTask', { id })).toMatchObject({ error: { code: -32001 } });
    expect(await other.send('hi', { contextId })).toMatchObject({ error: { code: -32602 } });
  });

  it('refuses pages of other origins', async () => {
    expect(await post(request({}), { origin: 'https://example.com' })).toMatchObject({ status: 403 });
  });

  it('refuses a body of more than 10 MiB', async () => {
    const body = JSON.stringify(request({ params: { text: 'x'.repeat(10 * 1024 * 1024) } }));
    expect(await post(body)).toMatchObject({ status: 413, body: { jsonrpc: '2.0', id: null } });
  });
});
