import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { expectRefusal, expectSuccess, type Seen, see } from './envelope.ts';

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
  let made = 0;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    see(
      await fetch(`${system.url}/api/v1${path}`, {
        method,
        headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    );
  const dataOf = (seen: Seen) => expectSuccess<Environment>(seen).data;
  const create = async (members: object = {}) => {
    made += 1;
    return dataOf(await ask('POST', PATH, { name: `environment-${made}`, ...members }));
  };

  it('POST takes a name, and gives it what the default one has', async () => {
    const seen = await ask('POST', PATH, { name: 'plain' });
    expect(seen.status).toBe(201);
    expect(seen.headers.get('etag')).toBe('"1"');
    const environment = dataOf(seen);
    expect(environment).toEqual({
      environment_id: expect.stringMatching(/^env_/),
      name: 'plain',
      sandbox: {
        provider: 'auto',
        image: null,
        cpu_millis: null,
        memory_mib: null,
        pids: null,
        disk_mib: null,
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
    expect(dataOf(await ask('GET', `${PATH}/${environment.environment_id}`))).toEqual(environment);
    const { data } = expectSuccess(await ask('GET', `${PATH}?q=default`));
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

  it('POST names all that its provider cannot keep, and what is no environment', async () => {
    const sandbox = { provider: 'simulated', image: 'debian:13', pids: 10 };
    const network = { mode: 'limited', allowed_hosts: ['example.com', '169.254.169.254'] };
    const details = expectRefusal(
      await ask('POST', PATH, { name: 'Wrong', sandbox, network, variables: { PATH: '/' } }),
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
    expect(details[3]?.message).toBe('cannot be kept: the provider simulated starts from no image');
    const unknown = {
      name: 'x',
      sandbox: { memory: 1 },
      network: { mode: 'some' },
      idle: { timeout_seconds: '1' },
    };
    const shape = expectRefusal(await ask('POST', PATH, unknown), 'INVALID_REQUEST');
    expect(shape.map(({ pointer }) => pointer).toSorted()).toEqual([
      '/idle/timeout_seconds',
      '/network/mode',
      '/sandbox/memory',
    ]);
  });

  it('POST refuses a name that is taken, and repeats the answer to the same key', async () => {
    const key = { 'Idempotency-Key': 'environment-key' };
    const first = await ask('POST', PATH, { name: 'taken' }, key);
    const again = await ask('POST', PATH, { name: 'taken' }, key);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(first.text);
    const taken = expectRefusal(await ask('POST', PATH, { name: 'taken' }), 'NAME_TAKEN');
    expect(taken).toEqual([{ pointer: '/name', message: 'is the name of another environment' }]);
    expectRefusal(await ask('POST', PATH, { name: 'other' }, key), 'IDEMPOTENCY_KEY_CONFLICT');
  });

  it('PATCH replaces parts as a whole, in a new version, when If-Match says the one that is there', async () => {
    const { environment_id: id } = await create({ sandbox: { provider: 'simulated', memory_mib: 64 } });
    const one = `${PATH}/${id}`;
    const seen = await ask('PATCH', one, { sandbox: { disk_mib: 10 } }, { 'If-Match': '"1"' });
    expect(seen.headers.get('etag')).toBe('"2"');
    expect(dataOf(seen)).toMatchObject({
      version: 2,
      sandbox: { provider: 'auto', memory_mib: null, disk_mib: 10 },
    });
    expectRefusal(await ask('PATCH', one, { enabled: false }, { 'If-Match': '"1"' }), 'VERSION_CONFLICT');
    const details = expectRefusal(await ask('PATCH', one, { name: 'renamed' }), 'INVALID_REQUEST');
    expect(details).toEqual([{ pointer: '/name', message: 'is not a known member' }]);
    const { data } = expectSuccess(await ask('GET', `${one}/versions`));
    expect(data).toMatchObject([
      { environment_id: id, version: 2, sandbox: { disk_mib: 10 }, enabled: true },
      { environment_id: id, version: 1, sandbox: { memory_mib: 64 } },
    ]);
  });

  it('DELETE waits until no agent and no assistant names it', async () => {
    const { environment_id: id } = await create();
    const agent = await api.createAgent({ environment_id: id });
    const made = await api.post('/assistants', {
      name: 'Helper',
      model: 'rehearsal/echo',
      environment_id: id,
    });
    const remove = () => ask('DELETE', `${PATH}/${id}`);
    expectRefusal(await remove(), 'RESOURCE_IN_USE');
    await api.send('PATCH', `/agents/${agent}`, { environment_id: null });
    expectRefusal(await remove(), 'RESOURCE_IN_USE');
    await api.send('DELETE', `/assistants/${made.body.data.assistant_id}`);
    expect(dataOf(await remove())).toEqual({ environment_id: id, deleted: true });
    expectRefusal(await remove(), 'ENVIRONMENT_NOT_FOUND');
    expectRefusal(await ask('DELETE', `${PATH}/env_00000000000000000000000000`), 'RESOURCE_IN_USE');
    const details = expectRefusal(
      await ask('POST', '/agents', { name: 'A', model: 'rehearsal/echo', environment_id: id }),
      'INVALID_REQUEST',
    );
    expect(details.map(({ pointer }) => pointer)).toEqual(['/environment_id']);
  });

  it('one that is disabled starts no conversation and no webhook, from the moment of the answer', async () => {
    const { environment_id: id } = await create();
    const agent = await api.createAgent({ environment_id: id });
    const webhook = await api.createWebhook(agent);
    const turn = (enabled: boolean) => ask('PATCH', `${PATH}/${id}`, { enabled });
    for (let round = 0; round < 3; round++) {
      expect((await api.trigger(webhook, 'called')).status).toBe(200);
      expectSuccess(await ask('POST', `/agents/${agent}/conversations`, {}));
      await turn(false);
      const refused = await api.trigger(webhook, 'called');
      expect([refused.status, refused.body.code]).toEqual([409, 'DEPLOYMENT_CANNOT_START']);
      expectRefusal(await ask('POST', `/agents/${agent}/conversations`, {}), 'ENVIRONMENT_DISABLED');
      await turn(true);
    }
  });

  it.each(['GET', 'PATCH', 'DELETE'])('%s of one that is not there', async (method) => {
    const body = method === 'PATCH' ? { enabled: false } : undefined;
    for (const id of [ABSENT, 'nonsense']) {
      expectRefusal(await ask(method, `${PATH}/${id}`, body), 'ENVIRONMENT_NOT_FOUND');
    }
  });
});
