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

  it('POST gives an assistant as it is then read', async () => {
    const { status, headers, body } = await api.post('/assistants', {
      name: 'Helper',
      model: 'rehearsal/echo',
      metadata: { team: 'blue' },
    });
    expect(status).toBe(201);
    expect(headers.get('etag')).toBe(null);
    expect(body.data).toEqual({
      assistant_id: expect.stringMatching(/^ast_/),
      name: 'Helper',
      description: '',
      model: 'rehearsal/echo',
      model_options: {},
      system: '',
      environment_id: null,
      tools: [],
      max_steps: 32,
      budget: {},
      metadata: { team: 'blue' },
      enabled: true,
      created_by: expect.stringMatching(/^usr_/),
      created_at: expect.stringMatching(/Z$/),
      updated_at: body.data.created_at,
    });
    expect((await api.get(`/assistants/${body.data.assistant_id}`)).body).toEqual(body);
  });

  it('PATCH changes what it brings, and clears what is null', async () => {
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

  it('GET lists assistants and no agents, and no agent can be reached as one', async () => {
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

  it('begins conversations that belong to it', async () => {
    const { assistant_id: id } = await create();
    const key = { 'Idempotency-Key': `talk-${id}` };
    const path = `/assistants/${id}/conversations`;
    const begun = await api.post(path, { message: 'Hello' }, key);
    expect(begun.status).toBe(201);
    expect(begun.body.data).toMatchObject({
      agent_id: null,
      assistant_id: id,
      agent_version: null,
      sandbox: null,
      status: 'pending',
    });
    const again = await api.post(path, { message: 'Hello' }, key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.body).toEqual(begun.body);
    const session = String(begun.body.data.session_id);
    await until('it has answered', async () => {
      const { body } = await api.get(`/sessions/${session}`);
      return body.data.status === 'idle';
    });
    const { body: said } = await api.get(`/sessions/${session}/messages`);
    expect(JSON.stringify(said.data)).toContain('Hello');
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

  it('answers each turn as what it is then', async () => {
    const { assistant_id: id } = await create({
      model: 'rehearsal/script',
      model_options: { steps: [{ text: 'One' }] },
    });
    const begun = await api.post(`/assistants/${id}/conversations`, { message: 'Who?' });
    const session = `/sessions/${begun.body.data.session_id}`;
    const spoken = (count: number) =>
      until(`${count} turns have ended`, async () => {
        const { body } = await api.get(`${session}/turns`);
        return (
          (body.data as { status: string }[]).filter(({ status }) => status === 'completed').length === count
        );
      });
    await spoken(1);
    await api.send('PATCH', `/assistants/${id}`, { model_options: { steps: [{ text: 'Two' }] } });
    await api.post(`${session}/messages`, { content: 'And now?' });
    await spoken(2);
    const { body } = await api.get(`${session}/messages`);
    const texts = JSON.stringify(body.data);
    expect(texts).toContain('One');
    expect(texts).toContain('Two');
  });

  it('has a workspace that nobody has touched yet', async () => {
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

  it('DELETE ends it, and what was said stays readable', async () => {
    const { assistant_id: id } = await create();
    const begun = await api.post(`/assistants/${id}/conversations`);
    const session = `/sessions/${begun.body.data.session_id}`;
    const gone = await api.send('DELETE', `/assistants/${id}`);
    expect(gone).toMatchObject({ status: 200, body: { data: { assistant_id: id, deleted: true } } });
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
    const said = await api.post(`${session}/messages`, { content: 'Anybody there?' });
    expect(said).toMatchObject(refusal(404, 'ASSISTANT_NOT_FOUND'));
  });

  it('DELETE takes the workspace along, with what is in it', async () => {
    const { assistant_id: id } = await create({ model: 'rehearsal/shell' });
    const begun = await api.post(`/assistants/${id}/conversations`, { message: '$ echo kept > notes.txt' });
    const files = `/sessions/${begun.body.data.session_id}/files`;
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

  it('starts nothing while it is disabled', async () => {
    const { assistant_id: id } = await create({ enabled: false });
    expect(await api.post(`/assistants/${id}/conversations`)).toMatchObject(
      refusal(409, 'AGENT_NOT_RUNNABLE'),
    );
  });
});
