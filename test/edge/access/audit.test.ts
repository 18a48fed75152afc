import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../support/wait.ts';
import type { Browser } from './browser.ts';
import { startTeam, type Team } from './team.ts';

const AUDIT = '/api/v1/admin/audit';
const ENVIRONMENT = {
  sandbox: { provider: 'simulated' },
  network: { mode: 'none' },
  tenancy: 'session',
  idle: { timeout_seconds: 60, action: 'suspend' },
};

interface Act {
  seq: number;
  actor_id: string | null;
  credential: string | null;
  action: string;
  target_id: string | null;
  outcome: string;
  address: string | null;
  request_id: string | null;
  data: Record<string, unknown>;
}

describe('GET /admin/audit', () => {
  let team: Team;
  let alice: Browser;
  let bob: Browser;

  beforeAll(async () => {
    team = await startTeam();
    alice = await team.logIn('alice');
    bob = await team.logIn('bob');
  });
  afterAll(() => team[Symbol.asyncDispose]());

  async function acts(query = ''): Promise<Act[]> {
    const answer = await alice.get(`${AUDIT}?limit=100${query}`);
    expect(answer.status).toBe(200);
    return answer.data as Act[];
  }

  const newest = async (query: string) => (await acts(query))[0];

  it('records logins and logouts with user, address and login id', async () => {
    const browser = await team.logIn('carol');
    const actor_id = await browser.userId();
    const credential = expect.stringMatching(/^lgn_/);
    const from = { actor_id, credential, address: '127.0.0.1', request_id: expect.stringMatching(/^req_/) };
    const started = await newest('&action=login.begin');
    expect(started).toMatchObject({ ...from, outcome: 'done' });
    expect(started?.target_id).toBe(started?.credential);
    await browser.post('/api/v1/auth/logout');
    expect(await newest('&action=login.end')).toMatchObject({ ...from, credential: started?.credential });
  });

  it('records the action, target and request id of changes', async () => {
    const token = await bob.token(['read']);
    expect(await newest('&action=token.create')).toMatchObject({
      actor_id: await bob.userId(),
      target_id: token.id,
      data: { name: 'read', scopes: ['read'] },
    });
    const created = await alice.post('/api/v1/admin/environments', { name: 'audited', ...ENVIRONMENT });
    expect(created.status, created.text).toBe(201);
    const target = String(created.data.environment_id);
    expect(await newest(`&target_id=${target}`)).toMatchObject({
      action: 'environment.create',
      actor_id: await alice.userId(),
      request_id: created.headers.get('x-request-id'),
    });
  });

  it('counts refused requests per user and address', async () => {
    const anonymous = await fetch(`${team.url}/api/v1/agents`, {
      headers: { authorization: 'Bearer nothing' },
    });
    expect(anonymous.status).toBe(401);
    const { value } = await bob.token(['read']);
    for (let count = 0; count < 3; count++) {
      const answer = await bob.send('POST', '/api/v1/agents', {}, { authorization: `Bearer ${value}` });
      expect(answer.code).toBe('SCOPE_INSUFFICIENT');
    }
    expect((await bob.get(AUDIT)).code).toBe('FORBIDDEN');
    const bobs = await bob.userId();
    await until('the refusals are in the audit log', async () => {
      const refused = await acts('&outcome=refused');
      // Requests before and after a periodic write are in different lines.
      const countOf = (actor: string | null, code: string, route: string) =>
        refused
          .filter(({ actor_id, data }) => actor_id === actor && data.code === code && data.route === route)
          .reduce((sum, { data }) => sum + Number(data.count), 0);
      return (
        countOf(null, 'UNAUTHENTICATED', 'GET /api/v1/agents') === 1 &&
        countOf(bobs, 'SCOPE_INSUFFICIENT', 'POST /api/v1/agents') === 3 &&
        countOf(bobs, 'FORBIDDEN', `GET ${AUDIT}`) === 1
      );
    });
  });

  it('records reads by administrators', async () => {
    const created = await bob.post('/api/v1/agents', { name: 'Mine', model: 'rehearsal/echo' });
    const path = `/api/v1/agents/${created.data.agent_id}`;
    const { data } = await bob.post(`${path}/conversations`);
    expect((await alice.get(path)).status).toBe(200);
    expect(await newest(`&target_id=${created.data.agent_id}`)).toMatchObject({ action: 'agent.look' });
    expect((await alice.get(`/api/v1/sessions/${data.session_id}/files`)).status).toBe(200);
    expect(await newest(`&target_id=${data.session_id}`)).toMatchObject({ action: 'session.look' });
    expect((await alice.get('/api/v1/admin/sessions')).text).toContain(String(data.session_id));
    expect(await newest('&action=sessions.list')).toMatchObject({ actor_id: await alice.userId() });
    expect((await bob.get('/api/v1/admin/sessions')).code).toBe('FORBIDDEN');
  });

  it('verifies the hash chain in parts and as a whole', async () => {
    const whole = await alice.post(`${AUDIT}/verify`);
    expect(whole.data).toMatchObject({ intact: true, broken_seq: null, complete: true });
    const part = await alice.post(`${AUDIT}/verify`, { after_seq: 2 });
    expect(part.data).toMatchObject({ intact: true, complete: true });
    expect((await bob.post(`${AUDIT}/verify`)).code).toBe('FORBIDDEN');
  });

  it.each(['&from=yesterday', '&until=2026-13-01T00:00:00Z', '&action=paint', '&cursor=x', '&actor=x'])(
    'returns 400 for the query %s',
    async (query) => {
      expect((await alice.get(`${AUDIT}?limit=1${query}`)).status).toBe(400);
    },
  );

  it('serves no request that changes an entry', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      expect((await alice.send(method, AUDIT, {})).code).toBe('METHOD_NOT_ALLOWED');
      expect((await alice.send(method, `${AUDIT}/1`, {})).code).toBe('ROUTE_NOT_FOUND');
    }
  });

  it('contains no secrets', async () => {
    const { value } = await bob.token(['read']);
    const { text } = await alice.get(`${AUDIT}?limit=100`);
    expect(text).not.toContain(value);
    for (const browser of [alice, bob])
      for (const cookie of (browser.jar.header() ?? '').split('; ').map((one) => one.split('=')[1] ?? ''))
        expect(text).not.toContain(cookie);
  });
});
