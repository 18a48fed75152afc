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

  describe('pinned messages', () => {
    const KIB = 1024;
    const pin = (path: string, content: unknown, more: object = {}, headers?: Record<string, string>) =>
      api.post(`${path}/messages`, { content, pinned: true, ...more }, headers);
    const pinAll = async (path: string, contents: readonly string[]) => {
      const answers = [];
      for (const content of contents) answers.push(await pin(path, content));
      return answers;
    };
    const LIMIT_EXCEEDED = {
      status: 400,
      body: { code: 'PINNED_LIMIT_EXCEEDED', error: { details: [{ pointer: '/pinned' }] } },
    };
    const messagesOf = (path: string) =>
      api.list<{ pinned?: boolean; content: { text: string }[] }>(`${path}/messages`);
    const pinnedTextsOf = async (path: string) =>
      (await messagesOf(path)).flatMap(({ pinned, content }) => (pinned ? content[0]?.text : []));
    const numbered = (count: number) => Array.from({ length: count }, (_, index) => `Rule ${index + 1}.`);

    it('are at most eight, are shown in the list and in their events, and free their place when removed', async () => {
      const { path } = await begin('Not pinned');
      const [first] = await pinAll(path, numbered(8));
      expect(await pin(path, 'Rule 9.')).toMatchObject(LIMIT_EXCEEDED);
      expect((await api.post(`${path}/messages`, { content: 'x', pinned: false })).status).toBe(202);
      expect(await pinnedTextsOf(path)).toEqual(numbered(8));
      const events = await api.list<{ data: object }>(`${path}/events?types=user.message&limit=100`);
      expect(events.map(({ data }) => 'pinned' in data)).toEqual([
        false,
        false,
        ...numbered(8).map(() => true),
        false,
      ]);
      await api.send('DELETE', `${path}/turns/${first?.body.data.turn_id}`);
      expect((await pin(path, 'Rule 9.')).status).toBe(202);
      expect(await pin(path, 'Rule 10.', { busy_policy: 'interrupt' })).toMatchObject(LIMIT_EXCEEDED);
      expect(await sessionOf(path)).toMatchObject({ state: 'running' });
      await api.post(`${path}/interrupt`, { queue: 'hold' });
    });

    it('have at most 16 KiB of texts and images together', async () => {
      const { path } = await begin();
      const image = {
        type: 'image',
        media_type: 'image/gif',
        data: Buffer.from('GIF89a').toString('base64'),
      };
      const text = { type: 'text', text: 'é'.repeat(4 * KIB) };
      expect(await pin(path, 'a'.repeat(16 * KIB + 1))).toMatchObject(LIMIT_EXCEEDED);
      expect((await pin(path, [text, image])).status).toBe(202);
      expect(await pin(path, 'a'.repeat(8 * KIB - 5))).toMatchObject(LIMIT_EXCEEDED);
      expect((await pin(path, 'a'.repeat(8 * KIB - 6), { busy_policy: 'steer' })).status).toBe(202);
      expect(await pin(path, '')).toMatchObject(LIMIT_EXCEEDED);
      await api.post(`${path}/interrupt`, { queue: 'hold' });
    });

    it('never exceed the limits when they are sent at the same time', async () => {
      const { path } = await begin();
      const sent = numbered(20).map((content, index) =>
        pin(path, content, {}, index % 2 === 0 ? { 'Idempotency-Key': `${path}-${index}` } : {}),
      );
      const statuses = (await Promise.all(sent)).map(({ status }) => status);
      expect(statuses.filter((status) => status === 202)).toHaveLength(8);
      expect(statuses.filter((status) => status === 400)).toHaveLength(12);
      expect(await pinnedTextsOf(path)).toHaveLength(8);
      await api.post(`${path}/interrupt`, { queue: 'hold' });
    });

    it('get their first answer again for the same Idempotency-Key, also at the limit', async () => {
      const { path } = await begin();
      await pinAll(path, numbered(7));
      const key = { 'Idempotency-Key': `${path}-last` };
      const first = await pin(path, 'Rule 8.', {}, key);
      const repeated = await pin(path, 'Rule 8.', {}, key);
      expect(repeated).toMatchObject({ status: 202, body: { data: first.body.data } });
      expect(repeated.headers.get('Idempotent-Replayed')).toBe('true');
      const other = await api.post(`${path}/messages`, { content: 'Rule 8.' }, key);
      expect([other.status, other.body.code]).toEqual([409, 'IDEMPOTENCY_KEY_CONFLICT']);
      expect(await pinnedTextsOf(path)).toHaveLength(8);
      await api.post(`${path}/interrupt`, { queue: 'hold' });
    });

    it('are copied into a fork, and count there and in its forks', async () => {
      const { path, running } = await begin();
      await pinAll(path, numbered(6));
      await api.send('DELETE', `${path}/turns/${running}`);
      let newest = path;
      for (const kept of [6, 7]) {
        const { data } = (await api.get(newest)).body;
        const forked = await api.post(`${newest}/fork`, { after_seq: data.last_seq });
        const fork = `/sessions/${forked.body.data.session_id}`;
        expect(await pinnedTextsOf(fork)).toHaveLength(kept);
        expect((await pin(fork, `Rule of ${kept}.`)).status).toBe(202);
        newest = fork;
      }
      expect(await pin(newest, 'Too many')).toMatchObject(LIMIT_EXCEEDED);
      expect((await pin(path, 'Rule 7.')).status).toBe(202);
      for (const one of [path, newest]) await api.post(`${one}/interrupt`, { queue: 'hold' });
    });
  });
});
