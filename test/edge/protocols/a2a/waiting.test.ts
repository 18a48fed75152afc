import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { type A2aClient, answerOf, createA2aClient, resultsOf, sendRequest } from './client.ts';

const CALCULATION = { tool: 'calculator', input: { expression: '6 * 7' } };
const FORM = { type: 'object', properties: { size: { type: 'string' } }, required: ['size'] };
const QUESTION = { tool: 'ask_user', input: { question: 'Which size?', schema: FORM } };
const asking = (...steps: object[]) => ({
  model: 'rehearsal/script',
  model_options: { steps: [...steps, { text: 'Done.' }] },
  tools: [{ name: 'calculator', permission: 'ask' }, { name: 'ask_user' }],
});

interface Waits {
  approval_id?: string;
  tool_use_id?: string;
}

interface WaitingTask {
  id: string;
  contextId: string;
  status: { state: string; message: { parts: { text?: string; data?: Waits }[] } };
}

describe('A2A tasks that wait', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const begin = async (members: object) => {
    const client = createA2aClient(system, await api.createAgent({ exposure: { a2a: 'on' }, ...members }));
    const task = (await client.send('go')).result.task as WaitingTask;
    const data = task.status.message.parts.flatMap((part) => (part.data ? [part.data] : []));
    return { client, task, text: task.status.message.parts[0]?.text ?? '', data };
  };
  const answer = (client: A2aClient, { id }: WaitingTask, ...data: object[]) =>
    client.send(
      data.map((one) => ({ data: one })),
      { taskId: id },
    );

  it('show an approval with its input and a link, and go on with a decision', async () => {
    const { client, task, text, data } = await begin(asking(CALCULATION));
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(text).toContain('permission to call the tool calculator');
    expect(text).toContain(`${system.url}/sessions/${task.contextId}`);
    expect(data).toMatchObject([
      { kind: 'tool_approval', tool_name: 'calculator', input: { expression: '6 * 7' } },
    ]);
    const decision = { approval_id: data[0]?.approval_id, decision: 'allow', reason: 'fine' };
    const { result } = await answer(client, task, decision);
    expect(result.task).toMatchObject({ id: task.id, status: { state: 'TASK_STATE_COMPLETED' } });
    expect(answerOf(result.task)).toBe('Done.');
    expect(await answer(client, task, decision)).toMatchObject({ error: { code: -32004 } });
    const { body } = await api.get(`/sessions/${task.contextId}/events?types=approval.decided`);
    expect(body.data).toMatchObject([{ data: { decision: 'allow', reason: 'fine' } }]);
  });

  it('stream on after a decision', async () => {
    const { client, task, data } = await begin(asking(CALCULATION));
    const parts = [{ data: { approval_id: data[0]?.approval_id, decision: 'deny' } }];
    const response = await client.open('SendStreamingMessage', sendRequest(parts, { taskId: task.id }));
    const events = await Array.fromAsync(resultsOf(response));
    expect(events[0].task.id).toBe(task.id);
    expect(events.at(-1).statusUpdate?.status.state ?? events[0].task.status.state).toBe(
      'TASK_STATE_COMPLETED',
    );
  });

  it('end a stream, and a subscription goes on when a person has answered', async () => {
    const { client, task, data } = await begin(asking(CALCULATION, { text: 'Again.' }, CALCULATION));
    const response = await client.open('SubscribeToTask', { id: task.id });
    const events = resultsOf(response);
    const { value: first } = await events.next();
    expect(first.task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    const path = `/sessions/${task.contextId}/approvals/${data[0]?.approval_id}`;
    expect((await api.post(path, { decision: 'allow' })).status).toBe(200);
    const rest = await Array.fromAsync(events);
    expect(rest.map(({ artifactUpdate }) => artifactUpdate?.artifact.parts)).toContainEqual([
      { text: 'Again.' },
    ]);
    expect(rest.at(-1).statusUpdate.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{}, { data: { kind: 'tool_approval' } }] },
    });
  });

  it('show a question, and go on with the output of its form', async () => {
    const { client, task, text, data } = await begin(asking(QUESTION));
    expect(task.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
    expect(text).toContain('The agent');
    expect(data).toMatchObject([{ kind: 'input', input: QUESTION.input }]);
    const { tool_use_id } = data[0] ?? {};
    expect(await answer(client, task, { tool_use_id, output: { size: 3 } })).toMatchObject({
      error: { code: -32602 },
    });
    const { result } = await answer(client, task, { tool_use_id, output: { size: 'large' } });
    expect(result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('wait until all is answered', async () => {
    const { client, task, data } = await begin(asking(CALCULATION, QUESTION));
    expect(data).toHaveLength(2);
    const decision = { approval_id: data.find((one) => one.approval_id)?.approval_id, decision: 'allow' };
    const waiting = await answer(client, task, decision);
    expect(waiting.result.task.status).toMatchObject({
      state: 'TASK_STATE_INPUT_REQUIRED',
      message: { parts: [{}, { data: { kind: 'input' } }] },
    });
    const { tool_use_id } = data.find((one) => one.tool_use_id) ?? {};
    const both = [decision, { tool_use_id, output: { size: 'large' } }];
    expect((await answer(client, task, ...both)).result.task.status.state).toBe('TASK_STATE_COMPLETED');
  });

  it('refuse other messages, and change nothing', async () => {
    const { client, task, data } = await begin(asking(CALCULATION));
    const { approval_id } = data[0] ?? {};
    const invalid = { id: 7, error: { code: -32602 } };
    const decision = { approval_id, decision: 'allow' };
    expect(await client.send('yes', { taskId: task.id })).toMatchObject(invalid);
    const mixed = [{ data: decision }, { text: 'yes' }];
    expect(await client.send(mixed, { taskId: task.id })).toMatchObject(invalid);
    expect(await answer(client, task, { approval_id, decision: 'maybe' })).toMatchObject(invalid);
    expect(await answer(client, task, { ...decision, edited_input: {} })).toMatchObject(invalid);
    const contextId = 'ses_01M7XYC91CC5TE06JQWDWRTJVA';
    expect(await client.send([{ data: decision }], { taskId: task.id, contextId })).toMatchObject(invalid);
    const unknown = { ...decision, approval_id: 'apr_01M7XYC91CC5TE06JQWDWRTJVA' };
    expect(await answer(client, task, unknown)).toMatchObject({
      status: 404,
      id: 7,
      error: { data: [{ reason: 'APPROVAL_NOT_FOUND' }] },
    });
    const { result } = await client.rpc('GetTask', { id: task.id });
    expect(result).toEqual(task);
  });

  it('show the call of a client tool, which is answered elsewhere', async () => {
    const tool = { type: 'client', name: 'locate', description: 'Where.', input_schema: { type: 'object' } };
    const { client, task, text, data } = await begin({
      model: 'rehearsal/script',
      model_options: { steps: [{ tool: 'locate', input: {} }, { text: 'Done.' }] },
      tools: [tool],
    });
    expect(text).toContain('the result of the client tool locate');
    expect(data).toEqual([]);
    const [call] = await api.list<{ tool_use_id: string }>(`/sessions/${task.contextId}/tool-calls`);
    expect(await answer(client, task, { tool_use_id: call?.tool_use_id, output: 1 })).toMatchObject({
      error: { code: -32602 },
    });
  });
});
