import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import { bodyOf, type Document, type Operation, operationsOf, queryOf } from '../document.ts';
import { type Browser, type ParsedResponse, parseResponse } from './browser.ts';
import { startTeam, type Team } from './team.ts';

const NOWHERE = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
const SCRIPT = {
  name: 'Asks',
  model: 'rehearsal/script',
  model_options: { steps: [{ tool: 'calculator', input: { expression: '6 * 7' } }, { text: 'Done' }] },
  tools: [{ name: 'calculator', permission: 'ask' }],
};
/** Path parameters that identify shared objects, or names of the client. */
const SHARED = [
  ...['environment_id', 'sandbox_id', 'user_id', 'chat_id'],
  ...['vault_id', 'credential_id', 'rotation_id', 'mcp_server_id', 'skill_id', 'version'],
];
/** Refuse every member, with any id. */
const FOR_ADMINISTRATORS = ['setAgentVaults', 'setAssistantVaults'];
/** Requires only a signature. */
const SIGNED = 'triggerDeployment';

type Ids = Record<string, string>;

describe('resources of another user', () => {
  let team: Team;
  let bob: Browser;
  let carol: Browser;
  let operations: Operation[];
  let bobs: Ids;
  let carols: Ids;

  beforeAll(async () => {
    team = await startTeam();
    [bob, carol] = [await team.logIn('bob'), await team.logIn('carol')];
    const document = (await bob.get('/openapi.json')).text;
    // Protocols ignore logins (test/edge/protocols).
    operations = operationsOf(JSON.parse(document) as Document).filter(
      ({ tags }) => !tags.includes('Protocols'),
    );
    [bobs, carols] = [await createObjects(bob), await createObjects(carol)];
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const named = ({ path }: Operation) =>
    Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name).filter((name) => !SHARED.includes(name));
  const fill = ({ path }: Operation, ids: Ids) =>
    path.replace(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? NOWHERE);

  async function request(operation: Operation, ids: Ids): Promise<ParsedResponse> {
    const { body, headers } = bodyOf(operation);
    const from = { origin: team.url, cookie: carol.jar.header() };
    const url = team.url + fill(operation, ids) + queryOf(operation);
    return parseResponse(
      await fetch(url, { method: operation.method, headers: { ...from, ...headers }, body }),
    );
  }

  /** The content of a response without its ids. */
  function withoutIds({ status, text, headers }: ParsedResponse): object {
    const body = text
      .replace(/"request_id":"[^"]*"/g, '')
      .replace(/\b([a-z]{3})_[0-9A-HJKMNP-TV-Z]{26}\b/g, '$1');
    const names = [...headers.keys()].filter((name) => name !== 'date').toSorted();
    return { status, body, names };
  }

  const absent = (ids: Ids): Ids =>
    Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, `${id.slice(0, 3)}_${NOWHERE}`]));

  it('return the same 404 as missing resources on every route', async () => {
    const before = await everything(bob, bobs);
    let tested = 0;
    for (const operation of operations) {
      const names = named(operation);
      if (names.length === 0 || operation.operationId === SIGNED) continue;
      // Each id alone, combined with the caller's own ids, and all ids together.
      for (const swapped of [...names.map((name) => [name]), names]) {
        const pick = (from: Ids) => Object.fromEntries(swapped.map((name) => [name, from[name] ?? '']));
        const foreign = await request(operation, { ...carols, ...pick(bobs) });
        const missing = await request(operation, { ...carols, ...pick(absent(bobs)) });
        const what = `${operation.operationId} with ${swapped.join(', ')} of another user`;
        const status = FOR_ADMINISTRATORS.includes(operation.operationId) ? 403 : 404;
        expect(foreign.status, `${what}: ${foreign.text}`).toBe(status);
        expect(withoutIds(foreign), what).toEqual(withoutIds(missing));
        tested++;
      }
    }
    expect(tested).toBeGreaterThan(60);
    expect(await everything(bob, bobs)).toEqual(before);
  });

  it.each(['agent_id', 'assistant_id', 'deployment_id'])(
    'match nothing in list filters by %s',
    async (name) => {
      const { data } = await carol.get(`/api/v1/sessions?${name}=${bobs[name]}`);
      expect(data).toEqual([]);
    },
  );

  it.each([
    '/api/v1/agents',
    '/api/v1/assistants',
    '/api/v1/sessions',
    '/api/v1/auth/tokens',
    '/api/v1/admin/deployments',
  ])('are in no list, and their cursors are refused for other users: %s', async (path) => {
    const [foreign, ours] = [await bob.get(`${path}?limit=1`), await carol.get(`${path}?limit=100`)];
    for (const id of Object.values(bobs)) expect(ours.text).not.toContain(id);
    const cursor = JSON.parse(foreign.text).page.next_cursor;
    expect(cursor, foreign.text).toEqual(expect.any(String));
    expect((await carol.get(`${path}?limit=1&cursor=${encodeURIComponent(cursor)}`)).code).toBe(
      'INVALID_CURSOR',
    );
  });

  it('are not returned for a reused Idempotency-Key', async () => {
    const headers = { origin: team.url, 'idempotency-key': 'the-same' };
    const agent = { name: 'Mine', model: 'rehearsal/echo' };
    const first = await bob.send('POST', '/api/v1/agents', agent, headers);
    const second = await carol.send('POST', '/api/v1/agents', agent, headers);
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.headers.has('idempotent-replayed')).toBe(false);
    expect(second.data.agent_id).not.toBe(first.data.agent_id);
  });

  it('are refused as references in request bodies', async () => {
    const shared = await carol.send(
      'PUT',
      `/api/v1/agents/${carols.agent_id}/access`,
      { visibility: 'private', managers: [], users: [`usr_${NOWHERE}`], groups: [] },
      { origin: team.url },
    );
    expect(shared.code).toBe('INVALID_REQUEST');
    const deployed = await carol.post(`/api/v1/admin/agents/${bobs.agent_id}/deployments`, {
      type: 'webhook',
    });
    expect(deployed.code).toBe('AGENT_NOT_FOUND');
    const forked = await carol.post(`/api/v1/sessions/${bobs.session_id}/fork`, { after_seq: 1 });
    expect(forked.code).toBe('SESSION_NOT_FOUND');
  });
});

/** Creates one of every resource that a user can own; two of those that are listed. */
async function createObjects(browser: Browser): Promise<Ids> {
  const create = async (path: string, body: object, name: string): Promise<string> => {
    const { status, text, data } = await browser.post(`/api/v1${path}`, body);
    if (status >= 300) throw new Error(`${path}: ${text}`);
    return String(data[name]);
  };
  const twice = async (path: string, body: object, name: string) => {
    await create(path, body, name);
    return create(path, body, name);
  };
  const agent_id = await twice('/agents', SCRIPT, 'agent_id');
  const assistant_id = await twice('/assistants', { name: 'Aide', model: 'rehearsal/echo' }, 'assistant_id');
  const conversations = `/agents/${agent_id}/conversations`;
  const session_id = await twice(conversations, { message: 'Hello' }, 'session_id');
  const deployment_id = await twice(
    `/admin/agents/${agent_id}/deployments`,
    { type: 'webhook' },
    'deployment_id',
  );
  const token_id = await twice('/auth/tokens', { name: 'mine', scopes: ['read'] }, 'token_id');
  for (const place of [`/sessions/${session_id}`, `/assistants/${assistant_id}`])
    await browser.post(`/api/v1${place}/files/directories`, { path: 'mine' });
  const approval_id = await until('an approval is pending', async () => {
    const { data } = await browser.get(`/api/v1/sessions/${session_id}/approvals`);
    return (data as { approval_id: string }[])[0]?.approval_id;
  });
  // A turn that still runs would change the sessions while the test compares them.
  await until('no turn runs', async () => {
    const { data } = await browser.get('/api/v1/sessions');
    return (data as { status: string }[]).every(({ status }) => status === 'idle');
  });
  const { data: turns } = await browser.get(`/api/v1/sessions/${session_id}/turns`);
  const turn_id = String((turns as { turn_id: string }[])[0]?.turn_id);
  return { agent_id, assistant_id, session_id, deployment_id, token_id, approval_id, turn_id };
}

/** Everything that a user owns, as the API shows it to the user. */
async function everything(browser: Browser, ids: Ids): Promise<object[]> {
  const paths = [
    ...[`/agents/${ids.agent_id}`, `/agents/${ids.agent_id}/access`, `/assistants/${ids.assistant_id}`],
    ...['', '/turns', '/messages', '/events', '/approvals', '/tool-calls', '/files'].map(
      (part) => `/sessions/${ids.session_id}${part}`,
    ),
    ...[
      `/assistants/${ids.assistant_id}/files`,
      '/auth/tokens',
      '/admin/deployments',
      '/sessions',
      '/agents',
    ],
  ];
  const answers: object[] = [];
  for (const path of paths) {
    const { status, data } = await browser.get(`/api/v1${path}`);
    answers.push({ path, status, data });
  }
  return answers;
}
