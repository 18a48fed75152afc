import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

/** Writes for minutes. */
const SLOW = {
  model: 'rehearsal/script',
  model_options: { steps: [{ text: 'word '.repeat(10_000), chunk_chars: 5, delay_ms: 50 }] },
};

describe('the queue of a session', () => {
  let system: System;
  let api: Api;
  let agent: string;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
    agent = await api.createAgent(SLOW);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  /** Begins a session with a running turn and one queued turn for each message. */
  async function begin(...messages: string[]): Promise<{ path: string; running: string; queued: string[] }> {
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'Write.' });
    const path = `/sessions/${body.data.session_id}`;
    await reaches(path, 'running');
    const queued: string[] = [];
    for (const content of messages)
      queued.push(String((await api.post(`${path}/messages`, { content })).body.data.turn_id));
    return { path, running: (await turnsOf(path))[0]?.turn_id ?? '', queued };
  }
  const sessionOf = async (path: string) => (await api.get(path)).body.data;
  const turnsOf = async (path: string) =>
    (await api.get(`${path}/turns`)).body.data as { turn_id: string; status: string }[];
  const reaches = (path: string, state: string) =>
    until(`the session is ${state}`, async () => (await sessionOf(path)).state === state);

  it('is held by an interrupt with queue: hold, until it is released', async () => {
    const { path } = await begin('First', 'Second');
    const stopped = await api.post(`${path}/interrupt`, { queue: 'hold' });
    expect(stopped.body.data).toMatchObject({ state: 'stopped', queue_held: true, queued_turns: 2 });
    const released = await api.post(`${path}/queue/release`);
    expect(released.status).toBe(200);
    expect(released.body.data).toMatchObject({ queue_held: false });
    await reaches(path, 'running');
    expect((await turnsOf(path)).map(({ status }) => status)).toEqual([
      'interrupted',
      'in_progress',
      'queued',
    ]);
    await api.post(`${path}/interrupt`, { queue: 'hold' });
  });

  it.each([
    ['without a body', undefined],
    ['with an empty object', {}],
    ['with queue: continue', { queue: 'continue' }],
  ])('continues after an interrupt %s', async (_, body) => {
    const { path } = await begin('First');
    const { status, body: answer } = await api.send('POST', `${path}/interrupt`, body);
    expect(status).toBe(200);
    expect(answer.data).toMatchObject({ queue_held: false });
    await reaches(path, 'running');
    await api.post(`${path}/interrupt`);
  });

  it('is not interrupted with an unknown value of queue', async () => {
    const { path } = await begin();
    const { status, body } = await api.post(`${path}/interrupt`, { queue: 'drop' });
    expect([status, body.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(await sessionOf(path)).toMatchObject({ state: 'running' });
    await api.post(`${path}/interrupt`);
  });

  it('stays as it is when it is released without being held', async () => {
    const { path } = await begin();
    await api.post(`${path}/interrupt`);
    const before = await sessionOf(path);
    const { status, body } = await api.post(`${path}/queue/release`);
    expect(status).toBe(200);
    expect(body.data).toEqual(before);
  });

  it('loses a removed turn, but no turn that has started', async () => {
    const { path, running, queued } = await begin('First');
    const [turn] = queued;
    const removed = await api.send('DELETE', `${path}/turns/${turn}`);
    expect(removed.status).toBe(200);
    expect(removed.body.data).toEqual({ turn_id: turn, deleted: true });
    for (const other of [running, turn]) {
      const { status, body } = await api.send('DELETE', `${path}/turns/${other}`);
      expect([status, body.code]).toEqual([409, 'TURN_NOT_QUEUED']);
    }
    expect((await turnsOf(path)).map(({ status }) => status)).toEqual(['in_progress', 'cancelled']);
    await api.post(`${path}/interrupt`);
  });
});
