import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, type ApiResponse, createApi, signed } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';

interface Resource {
  name: string;
  /** Creates the resource and returns its path. */
  create(api: Api): Promise<string>;
  /** The method that changes it, and bodies of different changes. */
  change: 'PATCH' | 'PUT';
  bodyOf(text: string): object;
  canBeDeleted: boolean;
}

let count = 0;
const unique = () => `resource-${++count}`;

const RESOURCES: Resource[] = [
  {
    name: 'agent',
    create: async (api) => `/agents/${await api.createAgent()}`,
    change: 'PATCH',
    bodyOf: (name) => ({ name }),
    canBeDeleted: true,
  },
  {
    name: 'assistant',
    create: async (api) => {
      const { body } = await api.post('/assistants', { name: 'Helper', model: 'rehearsal/echo' });
      return `/assistants/${body.data.assistant_id}`;
    },
    change: 'PATCH',
    bodyOf: (name) => ({ name }),
    canBeDeleted: true,
  },
  {
    name: 'session',
    create: async (api) => {
      const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
      return `/sessions/${body.data.session_id}`;
    },
    change: 'PATCH',
    bodyOf: (title) => ({ title }),
    canBeDeleted: true,
  },
  {
    name: 'environment',
    create: async (api) => {
      const { body } = await api.post('/admin/environments', { name: unique() });
      return `/admin/environments/${body.data.environment_id}`;
    },
    change: 'PATCH',
    bodyOf: (text) => ({ variables: { TEXT: text } }),
    canBeDeleted: true,
  },
  {
    name: 'vault',
    create: async (api) => {
      const { body } = await api.post('/admin/vaults', { name: unique() });
      return `/admin/vaults/${body.data.vault_id}`;
    },
    change: 'PATCH',
    bodyOf: (description) => ({ description }),
    canBeDeleted: true,
  },
  {
    name: 'credential',
    create: async (api) => {
      const { body } = await api.post('/admin/vaults', { name: unique() });
      const path = `/admin/vaults/${body.data.vault_id}/credentials`;
      const created = await api.post(path, { type: 'model_key', provider: 'anthropic', key: 'sk-1' });
      return `${path}/${created.body.data.credential_id}`;
    },
    change: 'PATCH',
    bodyOf: (label) => ({ label }),
    canBeDeleted: true,
  },
  {
    name: 'access list',
    create: async (api) => `/agents/${await api.createAgent()}/access`,
    change: 'PUT',
    bodyOf: (group) => ({ visibility: 'private', managers: [], users: [], groups: [group] }),
    canBeDeleted: false,
  },
];

/** How a header compares with the current tag `"n"`, and the status that it leads to. */
const CONDITIONS: [name: string, header: (tag: string) => string, status: number][] = [
  ['the current tag', (tag) => tag, 200],
  ['*', () => '*', 200],
  ['a list with the current tag', (tag) => `"other",, W/"9" , ${tag}`, 200],
  ['another tag', () => '"999"', 412],
  ['a list of other tags', () => '"998", "999"', 412],
  ['the current tag as a weak one', (tag) => `W/${tag}`, 412],
  ['the tag of a file', () => `"${'a'.repeat(64)}"`, 412],
  ['a number without quotes', (tag) => tag.replaceAll('"', ''), 400],
  ['* within a list', (tag) => `${tag}, *`, 400],
  ['an unterminated tag', () => '"1', 400],
  ['two tags without a comma', (tag) => `${tag} ${tag}`, 400],
  ['nothing', () => '', 400],
];
const CODES: Record<number, string> = { 200: 'OK', 400: 'INVALID_REQUEST', 412: 'VERSION_CONFLICT' };

describe('revisions', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem();
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  const tagOf = ({ headers }: ApiResponse) => headers.get('etag') ?? '';
  const conditional = (method: string, path: string, body: object | undefined, match?: string) =>
    api.send(method, path, body, match === undefined ? {} : { 'If-Match': match });
  const readUnless = (path: string, tags: string) =>
    fetch(`${system.url}/api/v1${path}`, { headers: { 'If-None-Match': tags } });

  describe.each(RESOURCES)('of an $name', ({ create, change, bodyOf }) => {
    it('are the number in the ETag, and each change increments them', async () => {
      const path = await create(api);
      const before = await api.get(path);
      const revision = Number(before.body.data.revision);
      expect(tagOf(before)).toBe(`"${revision}"`);
      const changed = await conditional(change, path, bodyOf('first'));
      expect(changed.body.data.revision).toBe(revision + 1);
      expect(tagOf(changed)).toBe(`"${revision + 1}"`);
      const after = await api.get(path);
      expect(after.body.data).toEqual(changed.body.data);
      expect(tagOf(after)).toBe(tagOf(changed));
    });

    it.each(CONDITIONS)(`are compared by ${change} with If-Match: %s`, async (_, header, status) => {
      const path = await create(api);
      const before = await api.get(path);
      const answer = await conditional(change, path, bodyOf('changed'), header(tagOf(before)));
      expect(answer).toMatchObject({ status, body: { code: CODES[status] } });
      const after = await api.get(path);
      if (status === 200) expect(tagOf(after)).toBe(tagOf(answer));
      else expect(after.body).toEqual(before.body);
    });

    it('let exactly one of several concurrent changes with the same tag through', async () => {
      const path = await create(api);
      const tag = tagOf(await api.get(path));
      const texts = ['one', 'two', 'three', 'four', 'five', 'six'];
      const answers = await Promise.all(texts.map((text) => conditional(change, path, bodyOf(text), tag)));
      const applied = answers.filter(({ status }) => status === 200);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
      expect((await api.get(path)).body.data).toEqual(applied[0]?.body.data);
    });

    it('make GET return 304 without a body for If-None-Match', async () => {
      const path = await create(api);
      const tag = tagOf(await api.get(path));
      for (const known of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const answer = await readUnless(path, known);
        expect({ status: answer.status, tag: answer.headers.get('etag') }, known).toEqual({
          status: 304,
          tag,
        });
        expect(await answer.text()).toBe('');
      }
      await conditional(change, path, bodyOf('other'));
      expect((await readUnless(path, tag)).status).toBe(200);
      expect(await conditional('GET', path, undefined, tag)).toMatchObject({ status: 412 });
      expect(await conditional('GET', path, undefined, '*')).toMatchObject({ status: 200 });
    });

    it('are checked after the existence and before the state', async () => {
      const path = await create(api);
      const absent = path.replace(/_\w{26}/, '_7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
      for (const match of ['"999"', '*'])
        expect(await conditional(change, absent, bodyOf('x'), match)).toMatchObject({ status: 404 });
    });
  });

  describe.each(RESOURCES.filter(({ canBeDeleted }) => canBeDeleted))('of an $name', ({ create }) => {
    it.each(CONDITIONS)('are compared by DELETE with If-Match: %s', async (_, header, status) => {
      const path = await create(api);
      const answer = await conditional('DELETE', path, undefined, header(tagOf(await api.get(path))));
      expect(answer).toMatchObject({ status, body: { code: CODES[status] } });
      expect((await api.get(path)).status).toBe(status === 200 ? 404 : 200);
    });
  });

  it('of an agent change with every field, and not with a change that has no effect', async () => {
    const path = `/agents/${await api.createAgent()}`;
    const changes = [
      { name: 'Renamed' },
      { description: 'Described' },
      { metadata: { team: 'blue' } },
      { enabled: false },
      { visibility: 'public' },
      { system: 'Be kind.' },
    ];
    for (const [index, body] of changes.entries()) {
      const answer = await api.send('PATCH', path, body);
      expect(answer.body.data.revision, JSON.stringify(body)).toBe(index + 2);
      const again = await api.send('PATCH', path, body);
      expect(tagOf(again)).toBe(tagOf(answer));
    }
    expect((await api.get(path)).body.data).toMatchObject({ revision: 7, version: 2 });
  });

  it('refuse a change with the tag from before a rename', async () => {
    const path = `/agents/${await api.createAgent()}`;
    const stale = tagOf(await api.get(path));
    expect(await conditional('PATCH', path, { name: 'Renamed' }, stale)).toMatchObject({ status: 200 });
    const late = await conditional('PATCH', path, { system: 'Late.' }, stale);
    expect(late).toMatchObject({ status: 412, body: { code: 'VERSION_CONFLICT' } });
    expect((await api.get(path)).body.data).toMatchObject({ name: 'Renamed', system: '', version: 1 });
  });

  it('of an agent and of its access list change together when the visibility changes', async () => {
    const path = `/agents/${await api.createAgent()}`;
    const access = async () => (await api.get(`${path}/access`)).body.data;
    const before = await access();
    await api.send('PATCH', path, { visibility: 'public' });
    expect(await access()).toMatchObject({ visibility: 'public', revision: Number(before.revision) + 1 });
    const agent = tagOf(await api.get(path));
    const list = { visibility: 'public', managers: [], users: [], groups: ['crew'] };
    expect((await api.send('PUT', `${path}/access`, list)).body.data.revision).toBe(3);
    expect(tagOf(await api.get(path))).not.toBe(agent);
  });

  it('of a session are compared before its state', async () => {
    const { body } = await api.post(`/agents/${await api.createAgent()}/conversations`);
    const path = `/sessions/${body.data.session_id}`;
    await api.post(`${path}/archive`);
    const current = tagOf(await api.get(path));
    expect(await conditional('PATCH', path, { title: 'A' }, '"1"')).toMatchObject({ status: 412 });
    expect(await conditional('PATCH', path, { title: 'A' }, current)).toMatchObject({ status: 409 });
  });

  it('of an environment are compared before its use', async () => {
    const { body } = await api.post('/admin/environments', { name: unique() });
    const path = `/admin/environments/${body.data.environment_id}`;
    await api.createAgent({ environment_id: body.data.environment_id });
    expect(await conditional('DELETE', path, undefined, '"9"')).toMatchObject({ status: 412 });
    expect(await conditional('DELETE', path, undefined, '"1"')).toMatchObject({ status: 409 });
  });

  it('do not exist for other resources, where If-Match is 400', async () => {
    const agent = await api.createAgent();
    const { id } = await api.createWebhook(agent);
    const session = (await api.post(`/agents/${agent}/conversations`)).body.data.session_id;
    const requests: [method: string, path: string, body?: object][] = [
      ['DELETE', `/admin/agents/${agent}/deployments/${id}`],
      ['PATCH', `/admin/agents/${agent}/deployments/${id}`, {}],
      ['POST', `/admin/agents/${agent}/deployments/${id}/disable`],
      ['GET', `/admin/agents/${agent}/deployments/${id}`],
      ['DELETE', '/auth/tokens/tok_7ZZZZZZZZZZZZZZZZZZZZZZZZZ'],
      ['DELETE', `/sessions/${session}/turns/trn_7ZZZZZZZZZZZZZZZZZZZZZZZZZ`],
      ['POST', '/agents', { name: 'Echo', model: 'rehearsal/echo' }],
      ['POST', `/sessions/${session}/messages`, { content: 'Hi' }],
      ['POST', `/sessions/${session}/archive`],
      ['POST', `/sessions/${session}/files/move`, { from: 'a', to: 'b' }],
      ['GET', '/agents'],
      ['GET', `/sessions/${session}/export`],
    ];
    for (const [method, path, body] of requests) {
      const { status, body: answer } = await conditional(method, path, body, '"1"');
      expect({ status, code: answer.code }, `${method} ${path}`).toEqual({
        status: 400,
        code: 'INVALID_REQUEST',
      });
      expect(answer.message).toContain('If-Match');
    }
    expect((await api.get(`/admin/agents/${agent}/deployments/${id}`)).body.data.status).toBe('enabled');
    expect((await api.get(`/sessions/${session}`)).body.data.archived_at).toBe(null);
  });

  it('are not asked for by the webhook trigger, which ignores If-Match', async () => {
    const webhook = await api.createWebhook(await api.createAgent());
    const { status } = await api.trigger(webhook, '{}', {
      ...signed(webhook.secret, '{}'),
      'If-Match': '"1"',
    });
    expect(status).toBe(200);
  });
});
