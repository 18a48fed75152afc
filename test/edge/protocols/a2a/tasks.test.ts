import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { until } from '../../../support/wait.ts';
import { type A2aClient, answerOf, createA2aClient, resultsOf, sendRequest } from './client.ts';

const script = (...steps: object[]) => ({ model: 'rehearsal/script', model_options: { steps } });
const SLOW = { text: 'a long story '.repeat(4_000), chunk_chars: 4, delay_ms: 15 };
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('A2A tasks', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const connect = async (members: object = {}): Promise<A2aClient> =>
    createA2aClient(system, await api.createAgent({ exposure: { a2a: 'on' }, ...members }));

  it('answers a message with a finished task, and continues its context', async () => {
    const client = await connect();
    const { status, id, result } = await client.send('one');
    expect({ status, id }).toEqual({ status: 200, id: 7 });
    const { task } = result;
    expect(task).toMatchObject({
      contextId: expect.stringMatching(/^ses_/),
      status: { state: 'TASK_STATE_COMPLETED', timestamp: expect.stringMatching(/Z$/) },
      artifacts: [{ artifactId: 'answer', parts: [{ text: 'one' }] }],
      history: [{ role: 'ROLE_USER', parts: [{ text: 'one' }], taskId: task.id }],
    });
    const { contextId } = task;
    const next = (await client.send('two', { contextId })).result.task;
    expect(next.contextId).toBe(contextId);
    expect(next.id).not.toBe(task.id);
    expect((await client.rpc('GetTask', { id: task.id })).result).toEqual(task);
    const { body } = await api.get(`/sessions/${contextId}/turns/${task.metadata.turn_id}`);
    expect(body.data).toMatchObject({ status: 'completed' });
  });

  it('returns a running task immediately, until it is canceled', async () => {
    const client = await connect(script(SLOW));
    const { task } = (await client.send('tell', {}, { returnImmediately: true })).result;
    expect(['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING']).toContain(task.status.state);
    await until('the task has an answer', async () => {
      const found = (await client.rpc('GetTask', { id: task.id })).result;
      return found.status.state === 'TASK_STATE_WORKING' && answerOf(found) !== '';
    });
    const { result } = await client.rpc('CancelTask', { id: task.id });
    expect(result.status.state).toBe('TASK_STATE_CANCELED');
    const answer = answerOf(result);
    expect(answer).not.toBe('');
    expect(SLOW.text.slice(0, answer.length)).toBe(answer);
    expect((await client.rpc('CancelTask', { id: task.id })).result).toEqual(result);
  });

  it('cancels a task that waits behind another one', async () => {
    const client = await connect(script(SLOW));
    const now = { returnImmediately: true };
    const first = (await client.send('one', {}, now)).result.task;
    const { contextId } = first;
    const second = (await client.send('two', { contextId }, now)).result.task;
    expect(second.status.state).toBe('TASK_STATE_SUBMITTED');
    const canceled = { result: { status: { state: 'TASK_STATE_CANCELED' } } };
    expect(await client.rpc('CancelTask', { id: second.id })).toMatchObject(canceled);
    const { result } = await client.rpc('GetTask', { id: first.id });
    expect(result.status.state).not.toBe('TASK_STATE_CANCELED');
    expect(await client.rpc('CancelTask', { id: first.id })).toMatchObject(canceled);
  });

  it('streams the task, its text in pieces and its end', async () => {
    const client = await connect(script({ text: 'It is forty-two.', chunk_chars: 3, delay_ms: 40 }));
    const response = await client.open('SendStreamingMessage', sendRequest('?'));
    expect(response.headers.get('content-type')).toContain('text/event-stream');
    const events = await Array.fromAsync(resultsOf(response));
    const states = events.flatMap(({ task, statusUpdate }) => (task ?? statusUpdate)?.status.state ?? []);
    // A runner may have begun the turn before the stream.
    if (states[0] === 'TASK_STATE_SUBMITTED') states.shift();
    expect(states).toEqual(['TASK_STATE_WORKING', 'TASK_STATE_COMPLETED']);
    const updates = events.flatMap(({ artifactUpdate }) => artifactUpdate ?? []);
    expect(updates.map((update) => answerOf({ artifacts: [update.artifact] })).join('')).toBe(
      'It is forty-two.',
    );
    expect(updates.map(({ append = false }) => append)).toEqual(updates.map((_, index) => index > 0));
    expect(events.at(-1).statusUpdate.taskId).toBe(events[0].task.id);
    const { result } = await client.rpc('GetTask', { id: events[0].task.id });
    expect(answerOf(result)).toBe('It is forty-two.');
  });

  it('streams go on without their client, and are resumed', async () => {
    const client = await connect(script({ text: 'It is forty-two.', chunk_chars: 1, delay_ms: 150 }));
    const controller = new AbortController();
    const response = await client.open('SendStreamingMessage', sendRequest('?'), controller.signal);
    let id = '';
    for await (const { task, artifactUpdate } of resultsOf(response)) {
      if (task) id = task.id;
      if (artifactUpdate) break;
    }
    controller.abort();
    const events = await Array.fromAsync(resultsOf(await client.open('SubscribeToTask', { id })));
    const [{ task }] = events;
    expect(answerOf(task)).not.toBe('');
    const rest = events.map(({ artifactUpdate }) =>
      answerOf({ artifacts: [artifactUpdate?.artifact ?? {}] }),
    );
    expect(answerOf(task) + rest.join('')).toBe('It is forty-two.');
    expect(events.every(({ artifactUpdate }) => artifactUpdate === undefined || artifactUpdate.append)).toBe(
      true,
    );
    expect(events.at(-1).statusUpdate.status.state).toBe('TASK_STATE_COMPLETED');
    expect(await client.rpc('SubscribeToTask', { id })).toMatchObject({ error: { code: -32004 } });
  });

  it('is one task for a repeated message id', async () => {
    const client = await connect();
    const messageId = 'message-1';
    const first = (await client.send('one', { messageId })).result.task;
    expect((await client.send('one', { messageId })).result.task).toEqual(first);
    const { contextId } = first;
    const again = { messageId: 'message-2', contextId };
    const second = (await client.send('two', again)).result.task;
    expect((await client.send('two', again)).result.task).toEqual(second);
    expect(await client.send('other', { messageId })).toMatchObject({
      status: 409,
      id: 7,
      error: { data: [{ reason: 'IDEMPOTENCY_KEY_CONFLICT' }] },
    });
    const other = await connect();
    expect((await other.send('one', { messageId })).result.task.id).not.toBe(first.id);
  });

  it('has the files of the turn as artifacts, and gives the agent the parts of a message', async () => {
    const client = await connect({
      ...script(
        { tool: 'write_file', input: { path: 'out/report.txt', content: 'All good.' } },
        { text: 'Written.' },
      ),
      tools: [{ name: 'write_file', permission: 'allow' }],
    });
    const parts = [
      { text: 'Use these.' },
      { data: { total: 3 } },
      { raw: PNG, mediaType: 'image/png', filename: 'dot.png' },
      { raw: Buffer.from('a,b').toString('base64'), mediaType: 'text/csv', filename: 'a.csv' },
    ];
    const { task } = (await client.send(parts)).result;
    expect(task.artifacts).toMatchObject([
      { artifactId: 'answer' },
      {
        artifactId: 'file:out/report.txt',
        name: 'out/report.txt',
        parts: [
          {
            raw: Buffer.from('All good.').toString('base64'),
            filename: 'report.txt',
            mediaType: expect.stringMatching(/^text\/plain/),
          },
        ],
      },
    ]);
    const { body } = await api.get(`/sessions/${task.contextId}/messages`);
    expect(body.data[0]).toMatchObject({
      content: [
        { type: 'text', text: 'Use these.' },
        { type: 'text', text: '{"total":3}' },
        { type: 'image', media_type: 'image/png', name: 'dot.png' },
        { type: 'file', media_type: 'text/csv', name: 'a.csv' },
      ],
    });
  });

  it('has the structured output of the agent as a data part', async () => {
    const output_schema = { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] };
    const client = await connect({ ...script({ text: '{"total":3}' }), output_schema });
    const { task } = (await client.send('count')).result;
    expect(task.artifacts[0].parts).toEqual([
      { text: '{"total":3}' },
      { data: { total: 3 }, mediaType: 'application/json' },
    ]);
    const events = await Array.fromAsync(
      resultsOf(await client.open('SendStreamingMessage', sendRequest('count'))),
    );
    const streamed = events.flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts ?? []);
    expect(streamed).toContainEqual({ data: { total: 3 }, mediaType: 'application/json' });
  });

  it('is a failed task with the reason when the turn fails', async () => {
    const client = await connect(script({ error: { kind: 'invalid_request' } }));
    const { task } = (await client.send('one')).result;
    expect(task.status).toMatchObject({
      state: 'TASK_STATE_FAILED',
      message: { role: 'ROLE_AGENT', parts: [{ text: expect.stringMatching(/\(\w+\)$/) }] },
    });
  });

  it('leaves out the history that a client does not want', async () => {
    const client = await connect();
    const { task } = (await client.send('one', {}, { historyLength: 0 })).result;
    expect(task.history).toBeUndefined();
    const { id } = task;
    expect((await client.rpc('GetTask', { id, historyLength: 1 })).result.history).toHaveLength(1);
  });

  it('counts requests by method and outcome', async () => {
    const client = await connect();
    await client.send('one');
    await client.rpc('GetTask', { id: 'x' });
    const metrics = await (await fetch(`${system.url}/metrics`)).text();
    const series = 'ahs_protocol_requests_total{protocol="a2a",operation=';
    expect(metrics).toContain(`${series}"SendMessage",outcome="ok"}`);
    expect(metrics).toContain(`${series}"GetTask",outcome="refused"}`);
    expect(metrics).toContain('ahs_protocol_waits{protocol="a2a"} 0');
    expect(metrics).toContain('ahs_protocol_streams{protocol="a2a"} 0');
  });

  it('attributes the session to the protocol', async () => {
    const client = await connect();
    const { contextId } = (await client.send('one')).result.task;
    const { body } = await api.get(`/sessions/${contextId}/events?types=session.created`);
    expect(body.data[0]).toMatchObject({ actor: { type: 'a2a' }, data: { source: 'a2a' } });
  });
});
