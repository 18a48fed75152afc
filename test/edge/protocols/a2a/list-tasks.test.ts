import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApi } from '../../../support/api.ts';
import { type System, startSystem } from '../../../support/system.ts';
import { until } from '../../../support/wait.ts';
import { type A2aClient, createA2aClient } from './client.ts';

interface ListedTask {
  id: string;
  contextId: string;
  status: { state: string; timestamp: string };
}

describe('A2A lists of tasks', () => {
  let system: System;
  let client: A2aClient;
  const tasks: ListedTask[] = [];
  beforeAll(async () => {
    system = await startSystem();
    const agent = await createApi(system.url).createAgent({ exposure: { a2a: 'on' } });
    client = createA2aClient(system, agent);
    for (const text of ['one', 'two', 'three']) {
      const { task } = (await client.send(text)).result;
      tasks.push(task, (await client.send(`${text} again`, { contextId: task.contextId })).result.task);
    }
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const list = async (params: object = {}) => (await client.rpc('ListTasks', params)).result;
  const idsOf = (found: { tasks: ListedTask[] }) => found.tasks.map(({ id }) => id);
  const newestFirst = () => tasks.map(({ id }) => id).reverse();

  it('have all tasks of the caller with the agent, newest first, without artifacts and history', async () => {
    const found = await list();
    expect(idsOf(found)).toEqual(newestFirst());
    expect(found).toMatchObject({ nextPageToken: '', pageSize: 50, totalSize: 6 });
    for (const task of found.tasks) {
      expect(task).not.toHaveProperty('artifacts');
      expect(task).not.toHaveProperty('history');
    }
  });

  it.each([1, 2, 4])('come in pages of %i', async (pageSize) => {
    const ids: string[] = [];
    let pageToken = '';
    do {
      const found = await list({ pageSize, pageToken });
      expect(found.tasks.length).toBeLessThanOrEqual(pageSize);
      ids.push(...idsOf(found));
      pageToken = found.nextPageToken;
      if (pageToken === '') expect(found.totalSize).toBe(6);
    } while (pageToken !== '');
    expect(ids).toEqual(newestFirst());
  });

  it('of a context come in the order of their last update on all pages', async () => {
    const steps = [{ text: 'Working.', delay_ms: 60_000 }];
    const agent = await createApi(system.url).createAgent({
      exposure: { a2a: 'on' },
      ...{ model: 'rehearsal/script', model_options: { steps } },
    });
    const slow = createA2aClient(system, agent);
    const now = { returnImmediately: true };
    const first = (await slow.send('one', {}, now)).result.task;
    const { contextId } = first;
    const second = (await slow.send('two', { contextId }, now)).result.task;
    const third = (await slow.send('three', { contextId }, now)).result.task;
    const started = async () => (await slow.rpc('GetTask', { id: first.id })).result.status.state;
    await until('the first task works', async () => (await started()) === 'TASK_STATE_WORKING');
    await slow.rpc('CancelTask', { id: second.id });
    const ids: string[] = [];
    let pageToken = '';
    do {
      const { result } = await slow.rpc('ListTasks', { contextId, pageSize: 1, pageToken });
      ids.push(...idsOf(result));
      pageToken = result.nextPageToken;
    } while (pageToken !== '');
    expect(ids[0]).toBe(second.id);
    expect(ids.toSorted()).toEqual([first.id, second.id, third.id].toSorted());
    await slow.rpc('CancelTask', { id: third.id });
    await slow.rpc('CancelTask', { id: first.id });
  });

  it('are filtered by context, state and time', async () => {
    const { contextId, status } = tasks[2] as ListedTask;
    expect(idsOf(await list({ contextId }))).toEqual([tasks[3]?.id, tasks[2]?.id]);
    expect(idsOf(await list({ status: 'TASK_STATE_COMPLETED' }))).toEqual(newestFirst());
    expect(await list({ status: 'TASK_STATE_WORKING' })).toMatchObject({ tasks: [], totalSize: 0 });
    const later = idsOf(await list({ statusTimestampAfter: status.timestamp }));
    expect(later).toEqual(newestFirst().slice(0, 4));
    expect(idsOf(await list({ contextId: 'ses_01M7XYC91CC5TE06JQWDWRTJVA' }))).toEqual([]);
  });

  it('have artifacts and history on request', async () => {
    const found = await list({ includeArtifacts: true, historyLength: 1, pageSize: 1 });
    expect(found.tasks).toEqual([tasks.at(-1)]);
  });

  it.each([
    [{ pageSize: 0 }],
    [{ pageSize: 101 }],
    [{ status: 'working' }],
    [{ pageToken: 'x' }],
    [{ pageToken: Buffer.from('["","x",0]').toString('base64url') }],
    [{ pageToken: Buffer.from('["x",null,0]').toString('base64url') }],
    [{ statusTimestampAfter: 'yesterday' }],
  ])('refuse %o', async (params) => {
    expect(await client.rpc('ListTasks', params)).toMatchObject({ id: 7, error: { code: -32602 } });
  });
});
