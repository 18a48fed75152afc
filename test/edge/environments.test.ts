import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { expectRefusal, expectSuccess, type ReceivedResponse, readResponse } from './envelope.ts';

const ABSENT = 'env_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
const PATH = '/admin/environments';

interface Environment {
  environment_id: string;
  version: number;
  [member: string]: unknown;
}

describe(PATH, () => {
  let system: System;
  let api: Api;
  let count = 0;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const request = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    readResponse(
      await fetch(`${system.url}/api/v1${path}`, {
        method,
        headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  const dataOf = (response: ReceivedResponse) => expectSuccess<Environment>(response).data;
  const create = async (members: object = {}) => {
    count += 1;
    return dataOf(await request('POST', PATH, { name: `environment-${count}`, ...members }));
  };

  it('POST needs only a name and applies the defaults', async () => {
    const response = await request('POST', PATH, { name: 'plain' });
    expect(response.status).toBe(201);
    expect(response.headers.get('etag')).toBe('"1"');
    const environment = dataOf(response);
    expect(environment).toEqual({
      environment_id: expect.stringMatching(/^env_/),
      revision: 1,
      name: 'plain',
      sandbox: {
        provider: 'auto',
        image: null,
        cpu_millis: null,
        memory_mib: null,
        pids: null,
        disk_mib: null,
        workspace_mib: null,
        command_timeout_seconds: 120,
      },
      network: { mode: 'none', allowed_hosts: [] },
      tenancy: 'session',
      idle: { timeout_seconds: 900, action: 'suspend' },
      variables: {},
      enabled: true,
      version: 1,
      is_default: false,
      created_by: expect.stringMatching(/^usr_/),
      created_at: expect.stringMatching(/Z$/),
      updated_at: environment.created_at,
    });
    expect(dataOf(await request('GET', `${PATH}/${environment.environment_id}`))).toEqual(environment);
    const { data } = expectSuccess(await request('GET', `${PATH}?q=default`));
    const { name, sandbox, network, tenancy, idle, variables, ...rest } = environment;
    expect(data).toEqual([
      {
        ...{ sandbox, network, tenancy, idle, variables },
        ...rest,
        name: 'default',
        environment_id: 'env_00000000000000000000000000',
        is_default: true,
        created_by: null,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
    ]);
    expect(name).toBe('plain');
  });

  it('POST returns 400 with every limit that the provider cannot enforce and every invalid member', async () => {
    const sandbox = { provider: 'simulated', image: 'debian:13', pids: 10 };
    const network = { mode: 'limited', allowed_hosts: ['example.com', '169.254.169.254'] };
    const details = expectRefusal(
      await request('POST', PATH, { name: 'Wrong', sandbox, network, variables: { PATH: '/' } }),
      'INVALID_REQUEST',
    );
    expect(details.map(({ pointer }) => pointer)).toEqual([
      '/name',
      '/network/allowed_hosts/1',
      '/variables/PATH',
      '/sandbox/image',
      '/sandbox/pids',
      '/network/mode',
    ]);
    expect(details[3]?.message).toBe('is not supported: the provider simulated does not support images');
    const unknown = {
      name: 'x',
      sandbox: { memory: 1 },
      network: { mode: 'some' },
      idle: { timeout_seconds: '1' },
    };
    const shape = expectRefusal(await request('POST', PATH, unknown), 'INVALID_REQUEST');
    expect(shape.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/idle/timeout_seconds',
      '/network/mode',
      '/sandbox/memory',
    ]);
  });

  it('POST returns NAME_TAKEN for an existing name, and the first response for the same Idempotency-Key', async () => {
    const key = { 'Idempotency-Key': 'environment-key' };
    const first = await request('POST', PATH, { name: 'taken' }, key);
    const again = await request('POST', PATH, { name: 'taken' }, key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(first.text);
    const taken = expectRefusal(await request('POST', PATH, { name: 'taken' }), 'NAME_TAKEN');
    expect(taken).toEqual([
      { pointer: '/name', message: 'must be unique; another environment has this name' },
    ]);
    expectRefusal(await request('POST', PATH, { name: 'other' }, key), 'IDEMPOTENCY_KEY_CONFLICT');
  });

  it('PATCH replaces complete parts in a new version and checks If-Match', async () => {
    const { environment_id: id } = await create({ sandbox: { provider: 'simulated', memory_mib: 64 } });
    const one = `${PATH}/${id}`;
    const response = await request(
      'PATCH',
      one,
      { sandbox: { disk_mib: 10, workspace_mib: 20 } },
      { 'If-Match': '"1"' },
    );
    expect(response.headers.get('etag')).toBe('"2"');
    expect(dataOf(response)).toMatchObject({
      version: 2,
      sandbox: { provider: 'auto', memory_mib: null, disk_mib: 10, workspace_mib: 20 },
    });
    expectRefusal(await request('PATCH', one, { enabled: false }, { 'If-Match': '"1"' }), 'VERSION_CONFLICT');
    const details = expectRefusal(await request('PATCH', one, { name: 'renamed' }), 'INVALID_REQUEST');
    expect(details).toEqual([{ pointer: '/name', message: 'is not a known member' }]);
    const { data } = expectSuccess(await request('GET', `${one}/versions`));
    expect(data).toMatchObject([
      { environment_id: id, version: 2, sandbox: { disk_mib: 10 }, enabled: true },
      { environment_id: id, version: 1, sandbox: { memory_mib: 64 } },
    ]);
  });

  it('DELETE returns RESOURCE_IN_USE while an agent or an assistant uses the environment', async () => {
    const { environment_id: id } = await create();
    const agent = await api.createAgent({ environment_id: id });
    const made = await api.post('/assistants', {
      name: 'Helper',
      model: 'rehearsal/echo',
      environment_id: id,
    });
    const remove = () => request('DELETE', `${PATH}/${id}`);
    expectRefusal(await remove(), 'RESOURCE_IN_USE');
    await api.send('PATCH', `/agents/${agent}`, { environment_id: null });
    expectRefusal(await remove(), 'RESOURCE_IN_USE');
    await api.send('DELETE', `/assistants/${made.body.data.assistant_id}`);
    expect(dataOf(await remove())).toEqual({ environment_id: id, deleted: true });
    expectRefusal(await remove(), 'ENVIRONMENT_NOT_FOUND');
    expectRefusal(await request('DELETE', `${PATH}/env_00000000000000000000000000`), 'RESOURCE_IN_USE');
    const details = expectRefusal(
      await request('POST', '/agents', { name: 'A', model: 'rehearsal/echo', environment_id: id }),
      'INVALID_REQUEST',
    );
    expect(details.map(({ pointer }) => pointer)).toEqual(['/environment_id']);
  });

  it('a disabled environment immediately starts no conversations or webhooks', async () => {
    const { environment_id: id } = await create();
    const agent = await api.createAgent({ environment_id: id });
    const webhook = await api.createWebhook(agent);
    const turn = (enabled: boolean) => request('PATCH', `${PATH}/${id}`, { enabled });
    for (let round = 0; round < 3; round++) {
      expect((await api.trigger(webhook, 'called')).status).toBe(200);
      expectSuccess(await request('POST', `/agents/${agent}/conversations`, {}));
      await turn(false);
      const refused = await api.trigger(webhook, 'called');
      expect([refused.status, refused.body.code]).toEqual([409, 'DEPLOYMENT_CANNOT_START']);
      expectRefusal(await request('POST', `/agents/${agent}/conversations`, {}), 'ENVIRONMENT_DISABLED');
      await turn(true);
    }
  });

  it.each(['GET', 'PATCH', 'DELETE'])(
    '%s returns ENVIRONMENT_NOT_FOUND for an unknown id',
    async (method) => {
      const body = method === 'PATCH' ? { enabled: false } : undefined;
      for (const id of [ABSENT, 'nonsense']) {
        expectRefusal(await request(method, `${PATH}/${id}`, body), 'ENVIRONMENT_NOT_FOUND');
      }
    },
  );
});
