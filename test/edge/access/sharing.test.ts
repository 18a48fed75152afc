import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import type { Browser } from './browser.ts';
import { startTeam, type Team } from './team.ts';

describe('a shared agent', () => {
  let team: Team;
  let bob: Browser;
  let carol: Browser;
  let agent: string;
  let session: string;
  let deployment: string;

  beforeAll(async () => {
    team = await startTeam();
    [bob, carol] = [await team.logIn('bob'), await team.logIn('carol')];
    const create = async (path: string, body: object, name: string) => {
      const { status, text, data } = await bob.post(`/api/v1${path}`, body);
      expect(status, text).toBe(201);
      return String(data[name]);
    };
    agent = `/api/v1/agents/${await create('/agents', { name: 'Desk', model: 'rehearsal/echo' }, 'agent_id')}`;
    const path = agent.replace('/api/v1', '');
    session = `/api/v1/sessions/${await create(`${path}/conversations`, { message: 'Hello' }, 'session_id')}`;
    const hooks = `/admin${path}/deployments`;
    deployment = `/api/v1${hooks}/${await create(hooks, { type: 'webhook' }, 'deployment_id')}`;
    await until('the turn has ended', async () => (await bob.get(session)).data.status === 'idle');
    await bob.post(`${session}/files/directories`, { path: 'notes' });
  });
  afterAll(() => team[Symbol.asyncDispose]());

  async function share(access: object): Promise<void> {
    const noAccess = { visibility: 'private', managers: [], users: [], groups: [] };
    const answer = await bob.send('PUT', `${agent}/access`, { ...noAccess, ...access }, { origin: team.url });
    expect(answer.status, answer.text).toBe(200);
  }

  const codes = (browser: Browser, paths: string[]) =>
    Promise.all(paths.map(async (path) => (await browser.get(path)).status));

  const OF_THE_SESSION = [
    '',
    '/turns',
    '/messages',
    '/events',
    '/approvals',
    '/tool-calls',
    '/files',
    '/export',
  ];

  it('returns 404 to users without access, for the agent and everything that belongs to it', async () => {
    await share({});
    const paths = [agent, deployment, ...OF_THE_SESSION.map((part) => session + part)];
    expect(new Set(await codes(carol, paths))).toEqual(new Set([404]));
  });

  it('returns VERSION_CONFLICT for If-Match with an old revision of the access settings', async () => {
    await share({});
    const current = await bob.get(`${agent}/access`);
    const { version, revision, ...access } = current.data;
    expect(current.headers.get('etag')).toBe(`"${revision}"`);
    const headers = { origin: team.url, 'if-match': `"${revision}"` };
    const first = await bob.send('PUT', `${agent}/access`, { ...access, visibility: 'public' }, headers);
    expect(first.data).toMatchObject({ visibility: 'public', version: Number(version) + 1 });
    const second = await bob.send('PUT', `${agent}/access`, access, headers);
    expect(second).toMatchObject({ status: 412, code: 'VERSION_CONFLICT' });
  });

  it('lets listed users begin conversations that only they can read', async () => {
    await share({ visibility: 'allowlist', users: [await carol.userId()] });
    expect((await carol.get(agent)).data).toMatchObject({ access: 'use' });
    const own = await carol.post(`${agent}/conversations`);
    expect(own.status).toBe(201);
    expect((await carol.get(`${agent}/sessions`)).data).toMatchObject([{ session_id: own.data.session_id }]);
    expect((await carol.send('PATCH', agent, { name: 'Mine' }, { origin: team.url })).code).toBe('FORBIDDEN');
    expect(await codes(carol, [session, deployment, `${agent}/access`])).toEqual([404, 404, 403]);
  });

  it('lets managers change the agent, and read and interrupt, but not change, the sessions of all users', async () => {
    await share({ managers: [await carol.userId()] });
    expect((await carol.get(agent)).data).toMatchObject({ access: 'manage' });
    expect((await carol.send('PATCH', agent, { name: 'Ours' }, { origin: team.url })).status).toBe(200);
    const paths = OF_THE_SESSION.map((part) => session + part);
    expect(new Set(await codes(carol, paths))).toEqual(new Set([200]));
    expect((await carol.get(`${session}/export`)).text).toBe((await bob.get(`${session}/export`)).text);
    expect((await carol.get(`${agent}/sessions`)).text).toContain(session.split('/').at(-1));
    const changes = [
      carol.post(`${session}/messages`, { content: 'Hi' }),
      carol.post(`${session}/fork`, { after_seq: 1 }),
      carol.post(`${session}/archive`),
      carol.post(`${session}/files/directories`, { path: 'more' }),
      carol.send('DELETE', session, undefined, { origin: team.url }),
    ];
    expect((await Promise.all(changes)).map(({ code }) => code)).toEqual(changes.map(() => 'FORBIDDEN'));
    expect((await carol.post(`${session}/interrupt`)).code).toBe('OK');
    expect((await carol.post(`${deployment}/disable`)).data).toMatchObject({ status: 'disabled' });
    expect((await carol.get('/api/v1/admin/deployments')).text).toContain(deployment.split('/').at(-1));
  });

  it('ends streams of managers who lose manage access', async () => {
    await share({ managers: [await carol.userId()] });
    const leave = new AbortController();
    const follow = (browser: Browser) =>
      fetch(`${team.url}${session}/events/stream`, {
        headers: { cookie: browser.jar.header() },
        signal: leave.signal,
      });
    const [theirs, his] = [await follow(carol), await follow(bob)];
    expect([theirs.status, his.status]).toEqual([200, 200]);
    await share({});
    // Resolves when the stream ends.
    await theirs.text();
    expect((await follow(carol)).status).toBe(404);
    const first = await his.body?.getReader().read();
    expect(first?.done).toBe(false);
    leave.abort();
  });

  it('takes access away immediately', async () => {
    await share({ visibility: 'public' });
    expect((await carol.get(agent)).status).toBe(200);
    await share({});
    expect(await codes(carol, [agent, session, deployment])).toEqual([404, 404, 404]);
    expect((await carol.post(`${agent}/conversations`)).code).toBe('AGENT_NOT_FOUND');
  });
});
