import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

describe('/assistants', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const create = async (members: object = {}) => {
    const { body } = await api.post('/assistants', { name: 'Helper', model: 'rehearsal/echo', ...members });
    return { assistant_id: String(body.data.assistant_id) };
  };
  const refusal = (status: number, code: string) => ({ status, body: { code } });

  it('POST returns the same assistant as GET', async () => {
    const { status, headers, body } = await api.post('/assistants', {
      name: 'Helper',
      model: 'rehearsal/echo',
      metadata: { team: 'blue' },
    });
    expect(status).toBe(201);
    expect(headers.get('etag')).toBe('"1"');
    expect(body.data).toEqual({
      assistant_id: expect.stringMatching(/^ast_/),
      name: 'Helper',
      description: '',
      model: 'rehearsal/echo',
      models: ['rehearsal/echo'],
      model_options: {},
      system: '',
      environment_id: null,
      output_schema: null,
      overridable: [],
      context: {},
      tools: [],
      max_steps: 32,
      budget: {},
      metadata: { team: 'blue' },
      enabled: true,
      revision: 1,
      created_by: expect.stringMatching(/^usr_/),
      created_at: expect.stringMatching(/Z$/),
      updated_at: body.data.created_at,
    });
    expect((await api.get(`/assistants/${body.data.assistant_id}`)).body).toEqual(body);
  });

  it('PATCH changes the given members and clears members that are null', async () => {
    const { assistant_id: id } = await create({ description: 'Helps', budget: { max_tokens: 5 } });
    const changed = await api.send('PATCH', `/assistants/${id}`, {
      system: 'Hm.',
      description: null,
      budget: null,
    });
    expect(changed.body.data).toMatchObject({ name: 'Helper', system: 'Hm.', description: '', budget: {} });
    for (const member of ['version', 'visibility']) {
      const refused = await api.send('PATCH', `/assistants/${id}`, { [member]: 'private' });
      expect(refused).toMatchObject(refusal(400, 'INVALID_REQUEST'));
    }
  });

  it('GET lists only assistants, and returns 404 for the id of an agent', async () => {
    const { assistant_id: id } = await create({ name: 'Needle' });
    const agent = await api.createAgent({ name: 'Needle' });
    const idsOf = async (path: string, name: string) =>
      ((await api.get(`${path}?q=needle`)).body.data as Record<string, unknown>[]).map((one) => one[name]);
    expect(await idsOf('/assistants', 'assistant_id')).toEqual([id]);
    expect(await idsOf('/agents', 'agent_id')).toEqual([agent]);
    expect(await api.get(`/assistants/${agent}`)).toMatchObject(refusal(404, 'ASSISTANT_NOT_FOUND'));
    expect(await api.get(`/agents/${id}`)).toMatchObject(refusal(404, 'AGENT_NOT_FOUND'));
    expect(await api.post(`/agents/${id}/conversations`)).toMatchObject(refusal(404, 'AGENT_NOT_FOUND'));
    const webhook = await api.post(`/admin/agents/${id}/deployments`, { type: 'webhook' });
    expect(webhook).toMatchObject(refusal(404, 'AGENT_NOT_FOUND'));
  });

  it('POST …/conversations creates sessions of the assistant', async () => {
    const { assistant_id: id } = await create();
    const key = { 'Idempotency-Key': `talk-${id}` };
    const path = `/assistants/${id}/conversations`;
    const conversation = await api.post(path, { message: 'Hello' }, key);
    expect(conversation.status).toBe(201);
    expect(conversation.body.data).toMatchObject({
      agent_id: null,
      assistant_id: id,
      agent_version: null,
      sandbox: null,
      status: 'pending',
    });
    const again = await api.post(path, { message: 'Hello' }, key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(conversation.body);
    const session = String(conversation.body.data.session_id);
    await until('the assistant has answered', async () => {
      const { body } = await api.get(`/sessions/${session}`);
      return body.data.status === 'idle';
    });
    const { body: messages } = await api.get(`/sessions/${session}/messages`);
    expect(JSON.stringify(messages.data)).toContain('Hello');
    const agent = await api.createAgent();
    const other = await api.post(`/agents/${agent}/conversations`);
    expect(other.body.data).toMatchObject({ agent_id: agent, assistant_id: null, agent_version: 1 });
    const listed = async (query: string) =>
      ((await api.get(`/sessions?${query}`)).body.data as { session_id: string }[]).map(
        (one) => one.session_id,
      );
    expect(await listed(`assistant_id=${id}`)).toEqual([session]);
    expect(await listed(`agent_id=${agent}`)).toEqual([other.body.data.session_id]);
    const both = await api.get(`/sessions?assistant_id=${id}&agent_id=${agent}`);
    expect(both).toMatchObject(refusal(400, 'INVALID_REQUEST'));
    const version = await api.post(`/sessions/${session}/agent-version`, { version: 1 });
    expect(version).toMatchObject(refusal(400, 'INVALID_REQUEST'));
  });

  it('runs each turn with the current configuration', async () => {
    const { assistant_id: id } = await create({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'One' }] },
    });
    const conversation = await api.post(`/assistants/${id}/conversations`, { message: 'Who?' });
    const session = `/sessions/${conversation.body.data.session_id}`;
    const answered = (count: number) =>
      until(`${count} turns have ended`, async () => {
        const { body } = await api.get(`${session}/turns`);
        return (
          (body.data as { status: string }[]).filter(({ status }) => status === 'completed').length === count
        );
      });
    await answered(1);
    await api.send('PATCH', `/assistants/${id}`, { model_options: { steps: [{ text: 'Two' }] } });
    await api.post(`${session}/messages`, { content: 'And now?' });
    await answered(2);
    const { body } = await api.get(`${session}/messages`);
    const texts = JSON.stringify(body.data);
    expect(texts).toContain('One');
    expect(texts).toContain('Two');
  });

  it('GET …/workspace returns version 0 for an unused workspace', async () => {
    const { assistant_id: id } = await create();
    const { status, body } = await api.get(`/assistants/${id}/workspace`);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      workspace_id: id.replace('ast_', 'wsp_'),
      version: 0,
      files: 0,
      bytes: 0,
      last_seq: 0,
      updated_at: null,
    });
    const absent = await api.get('/assistants/ast_7ZZZZZZZZZZZZZZZZZZZZZZZZZ/workspace');
    expect(absent).toMatchObject(refusal(404, 'ASSISTANT_NOT_FOUND'));
  });

  it('DELETE ends the assistant and keeps its messages readable', async () => {
    const { assistant_id: id } = await create();
    const conversation = await api.post(`/assistants/${id}/conversations`);
    const session = `/sessions/${conversation.body.data.session_id}`;
    const deleted = await api.send('DELETE', `/assistants/${id}`);
    expect(deleted).toMatchObject({ status: 200, body: { data: { assistant_id: id, deleted: true } } });
    for (const [method, path] of [
      ['GET', `/assistants/${id}`],
      ['DELETE', `/assistants/${id}`],
      ['POST', `/assistants/${id}/conversations`],
      ['GET', `/assistants/${id}/workspace`],
    ] as const) {
      const body = method === 'POST' ? {} : undefined;
      expect(await api.send(method, path, body)).toMatchObject(refusal(404, 'ASSISTANT_NOT_FOUND'));
    }
    expect((await api.get(session)).body.data).toMatchObject({ assistant_id: id });
    const sent = await api.post(`${session}/messages`, { content: 'Hello?' });
    expect(sent).toMatchObject(refusal(404, 'ASSISTANT_NOT_FOUND'));
  });

  it('DELETE deletes the workspace with its files', async () => {
    const { assistant_id: id } = await create({ model: 'rehearsal/shell' });
    const conversation = await api.post(`/assistants/${id}/conversations`, {
      message: '$ echo kept > notes.txt',
    });
    const files = `/sessions/${conversation.body.data.session_id}/files`;
    await until('the file is there', async () => {
      const { body } = await api.get(`/assistants/${id}/files`);
      return (body.data as { path: string }[]).some(({ path }) => path === 'notes.txt');
    });
    expect((await api.get(`/assistants/${id}/workspace`)).body.data).toMatchObject({ files: 1, bytes: 5 });
    await api.send('DELETE', `/assistants/${id}`);
    await until('its workspace is gone', async () => {
      const { body, status } = await api.get(files);
      return status === 404 || body.data.length === 0;
    });
  });

  it('starts no conversation while it is disabled', async () => {
    const { assistant_id: id } = await create({ enabled: false });
    expect(await api.post(`/assistants/${id}/conversations`)).toMatchObject(
      refusal(409, 'AGENT_NOT_RUNNABLE'),
    );
  });
});
