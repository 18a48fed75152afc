import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import type { Browser } from './browser.ts';
import { startTeam, type Team } from './team.ts';

describe('an agent that is shared', () => {
  let team: Team;
  let bob: Browser;
  let carol: Browser;
  let agent: string;
  let session: string;
  let deployment: string;

  beforeAll(async () => {
    team = await startTeam();
    [bob, carol] = [await team.logIn('bob'), await team.logIn('carol')];
    const made = async (path: string, body: object, name: string) => {
      const { status, text, data } = await bob.post(`/api/v1${path}`, body);
      expect(status, text).toBe(201);
      return String(data[name]);
    };
    agent = `/api/v1/agents/${await made('/agents', { name: 'Desk', model: 'rehearsal/echo' }, 'agent_id')}`;
    const path = agent.replace('/api/v1', '');
    session = `/api/v1/sessions/${await made(`${path}/conversations`, { message: 'Hello' }, 'session_id')}`;
    const hooks = `/admin${path}/deployments`;
    deployment = `/api/v1${hooks}/${await made(hooks, { type: 'webhook' }, 'deployment_id')}`;
    await until('the turn has ended', async () => (await bob.get(session)).data.status === 'idle');
    await bob.post(`${session}/files/directories`, { path: 'notes' });
  });
  afterAll(() => team[Symbol.asyncDispose]());

  async function share(access: object): Promise<void> {
    const nobody = { visibility: 'private', managers: [], users: [], groups: [] };
    const answer = await bob.send('PUT', `${agent}/access`, { ...nobody, ...access }, { origin: team.url });
    expect(answer.status, answer.text).toBe(200);
  }

  const codes = (browser: Browser, paths: string[]) =>
    Promise.all(paths.map(async (path) => (await browser.get(path)).status));

  const OF_THE_SESSION = ['', '/turns', '/messages', '/events', '/approvals', '/files', '/export'];

  it('is not there for others, nor is anything of it', async () => {
    await share({});
    const paths = [agent, deployment, ...OF_THE_SESSION.map((part) => session + part)];
    expect(new Set(await codes(carol, paths))).toEqual(new Set([404]));
  });

  it('is shared anew only by who knows how it is shared by now', async () => {
    await share({});
    const known = await bob.get(`${agent}/access`);
    const { version, ...access } = known.data;
    expect(known.headers.get('etag')).toBe(`"${version}"`);
    const given = { origin: team.url, 'if-match': `"${version}"` };
    const first = await bob.send('PUT', `${agent}/access`, { ...access, visibility: 'public' }, given);
    expect(first.data).toMatchObject({ visibility: 'public', version: Number(version) + 1 });
    const second = await bob.send('PUT', `${agent}/access`, access, given);
    expect(second).toMatchObject({ status: 412, code: 'VERSION_CONFLICT' });
  });

  it('is used by whom it is shared with, each in sessions of their own', async () => {
    await share({ visibility: 'allowlist', users: [await carol.userId()] });
    expect((await carol.get(agent)).data).toMatchObject({ access: 'use' });
    const own = await carol.post(`${agent}/conversations`);
    expect(own.status).toBe(201);
    expect((await carol.get(`${agent}/sessions`)).data).toMatchObject([{ session_id: own.data.session_id }]);
    expect((await carol.send('PATCH', agent, { name: 'Mine' }, { origin: team.url })).code).toBe('FORBIDDEN');
    expect(await codes(carol, [session, deployment, `${agent}/access`])).toEqual([404, 404, 403]);
  });

  it('is managed by its managers, who read the sessions of everybody and change none of them', async () => {
    await share({ managers: [await carol.userId()] });
    expect((await carol.get(agent)).data).toMatchObject({ access: 'manage' });
    expect((await carol.send('PATCH', agent, { name: 'Ours' }, { origin: team.url })).status).toBe(200);
    const paths = OF_THE_SESSION.map((part) => session + part);
    expect(new Set(await codes(carol, paths))).toEqual(new Set([200]));
    expect((await carol.get(`${session}/export`)).text).toBe((await bob.get(`${session}/export`)).text);
    expect((await carol.get(`${agent}/sessions`)).text).toContain(session.split('/').at(-1));
    const changes = [
      carol.post(`${session}/messages`, { content: 'Hi' }),
      carol.post(`${session}/interrupt`),
      carol.post(`${session}/fork`, { after_seq: 1 }),
      carol.post(`${session}/archive`),
      carol.post(`${session}/files/directories`, { path: 'more' }),
      carol.send('DELETE', session, undefined, { origin: team.url }),
    ];
    expect((await Promise.all(changes)).map(({ code }) => code)).toEqual(changes.map(() => 'FORBIDDEN'));
    expect((await carol.post(`${deployment}/disable`)).data).toMatchObject({ status: 'disabled' });
    expect((await carol.get('/api/v1/admin/deployments')).text).toContain(deployment.split('/').at(-1));
  });

  it('is followed by its managers, as long as they are', async () => {
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
    // To its end.
    await theirs.text();
    expect((await follow(carol)).status).toBe(404);
    const first = await his.body?.getReader().read();
    expect(first?.done).toBe(false);
    leave.abort();
  });

  it('is gone from one answer to the next', async () => {
    await share({ visibility: 'public' });
    expect((await carol.get(agent)).status).toBe(200);
    await share({});
    expect(await codes(carol, [agent, session, deployment])).toEqual([404, 404, 404]);
    expect((await carol.post(`${agent}/conversations`)).code).toBe('AGENT_NOT_FOUND');
  });
});
