import { randomUUID } from 'node:crypto';
import { type Message, type Part, Role, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import { type Client, ClientFactory } from '@a2a-js/sdk/client';
import {
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';

/* The client of the SDK, without changes, over HTTP. */

const script = (...steps: object[]) => ({ model: 'rehearsal/script', model_options: { steps } });
const SLOW = { text: 'a long story '.repeat(4_000), chunk_chars: 4, delay_ms: 15 };
const CLIENTS = 50;

const partOf = (content: NonNullable<Part['content']>): Part => ({
  ...{ content, metadata: undefined, filename: '', mediaType: '' },
});
const request = (parts: Part[], members: Partial<Message> = {}, returnImmediately = false) => ({
  tenant: '',
  message: {
    ...{ messageId: randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, parts },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
    ...members,
  },
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately },
  metadata: undefined,
});
const textRequest = (value: string, members: Partial<Message> = {}, returnImmediately = false) =>
  request([partOf({ $case: 'text', value })], members, returnImmediately);
const textOf = (parts: Part[]) =>
  parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('');
const answerOf = ({ artifacts }: Pick<Task, 'artifacts'>) =>
  textOf(artifacts.flatMap(({ artifactId, parts }) => (artifactId === 'answer' ? parts : [])));
const byId = (id: string) => ({ tenant: '', id });

async function sendTask(client: Client, sent: ReturnType<typeof request>): Promise<Task> {
  const result = await client.sendMessage(sent);
  if (!('status' in result)) throw new Error('The result is no task.');
  return result;
}

/** The text that the events of a stream have, and the state of its end. */
function told(events: StreamResponse[]) {
  let text = '';
  let state: TaskState | undefined;
  for (const { payload } of events) {
    if (payload?.$case === 'task') [text, state] = [answerOf(payload.value), payload.value.status?.state];
    if (payload?.$case === 'artifactUpdate') text += textOf(payload.value.artifact?.parts ?? []);
    if (payload?.$case === 'statusUpdate') state = payload.value.status?.state;
  }
  return { text, state };
}

describe('the client of the A2A SDK', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const connect = async (members: object = {}) => {
    const agent = await api.createAgent({ exposure: { a2a: 'on' }, ...members });
    return new ClientFactory().createFromUrl(`${system.url}/api/v1/a2a/${agent}/`);
  };

  it('reads the card, sends, reads, lists and cancels tasks', async () => {
    const client = await connect(script({ text: 'Hello! How are you?' }));
    const task = await sendTask(client, textRequest('Hi'));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerOf(task)).toBe('Hello! How are you?');
    expect(await client.getTask(byId(task.id))).toEqual(task);
    const next = await sendTask(client, textRequest('Again', { contextId: task.contextId }));
    expect(next.contextId).toBe(task.contextId);
    const { tasks } = await client.listTasks({
      ...{ tenant: '', contextId: task.contextId, status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: '' },
      statusTimestampAfter: undefined,
    });
    expect(tasks.map(({ id }) => id)).toEqual([next.id, task.id]);

    const slow = await connect(script(SLOW));
    const running = await sendTask(slow, textRequest('Tell.', {}, true));
    const canceled = await slow.cancelTask({ ...byId(running.id), metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  });

  it('streams a task, and resumes after it has disconnected', async () => {
    const client = await connect(script({ text: 'It is forty-two.', chunk_chars: 1, delay_ms: 150 }));
    let id = '';
    for await (const { payload } of client.sendMessageStream(textRequest('?'))) {
      if (payload?.$case === 'task') id = payload.value.id;
      if (payload?.$case === 'artifactUpdate') break;
    }
    const events = await Array.fromAsync(client.resubscribeTask(byId(id)));
    expect(told(events)).toEqual({ text: 'It is forty-two.', state: TaskState.TASK_STATE_COMPLETED });
  });

  it('answers an approval with a data part', async () => {
    const client = await connect({
      ...script({ tool: 'calculator', input: { expression: '6 * 7' } }, { text: 'It is 42.' }),
      tools: [{ name: 'calculator', permission: 'ask' }],
    });
    const task = await sendTask(client, textRequest('?'));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const [data] =
      task.status?.message?.parts.flatMap(({ content }) =>
        content?.$case === 'data' ? [content.value] : [],
      ) ?? [];
    const value = { approval_id: data.approval_id, decision: 'allow' };
    const events = client.sendMessageStream(request([partOf({ $case: 'data', value })], { taskId: task.id }));
    expect(told(await Array.fromAsync(events)).state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(answerOf(await client.getTask(byId(task.id)))).toBe('It is 42.');
  });

  it('throws the errors of the protocol', async () => {
    const client = await connect();
    const unknown = byId('trn_01M7XYC91CC5TE06JQWDWRTJVA-01M7XYC91CC5TE06JQWDWRTJVA');
    await expect(client.getTask(unknown)).rejects.toBeInstanceOf(TaskNotFoundError);
    const { id } = await sendTask(client, textRequest('Hi'));
    const cancel = client.cancelTask({ ...byId(id), metadata: undefined });
    await expect(cancel).rejects.toBeInstanceOf(TaskNotCancelableError);
    const more = client.sendMessage(textRequest('More', { taskId: id }));
    await expect(more).rejects.toBeInstanceOf(UnsupportedOperationError);
    const push = { ...{ tenant: '', id: '', taskId: id, token: '' }, url: 'https://example.com' };
    // The client reads from the card that push notifications are not supported.
    const register = async () =>
      client.createTaskPushNotificationConfig({ ...push, authentication: undefined });
    await expect(register()).rejects.toBeInstanceOf(PushNotificationNotSupportedError);
  });

  it('gets its own answer beside 49 others with equal request ids', async () => {
    const agent = await api.createAgent({ exposure: { a2a: 'on' } });
    const url = `${system.url}/api/v1/a2a/${agent}/`;
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, () => new ClientFactory().createFromUrl(url)),
    );
    const tasks = await Promise.all(
      clients.map((client, index) => sendTask(client, textRequest(`number ${index}`))),
    );
    expect(tasks.map(answerOf)).toEqual(tasks.map((_, index) => `number ${index}`));
    expect(new Set(tasks.map(({ contextId }) => contextId)).size).toBe(CLIENTS);
  });
});
