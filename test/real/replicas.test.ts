import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Browser, parseResponse } from '../edge/access/browser.ts';
import { teamSettings } from '../edge/access/team.ts';
import { type Fleet, startFleet } from '../support/fleet.ts';
import { IdentityProvider } from '../support/identity-provider.ts';
import { freePort } from '../support/port.ts';
import { until } from '../support/wait.ts';

describe('team mode with two instances of edge and auth', () => {
  const stack = new AsyncDisposableStack();
  let provider: IdentityProvider;
  let fleet: Fleet;
  let there: string;
  let alice: Browser;
  let bob: Browser;

  beforeAll(async () => {
    const accounts = { alice: { name: 'Alice', groups: ['operators'] }, bob: { name: 'Bob' } };
    provider = stack.use(await IdentityProvider.open({ accounts }));
    fleet = stack.use(await startFleet(teamSettings(provider)));
    provider.setOrigin(fleet.api.origin);
    const http = String(await freePort());
    const [grpc, listen] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    fleet.add('another auth', 'auth', { SERVICE_GRPC_LISTEN: grpc });
    fleet.add('another edge', 'edge', {
      SERVICE_PORT: http,
      SERVICE_AUTH_ADDRESS: grpc,
      SERVICE_GRPC_LISTEN: listen,
    });
    await Promise.all([fleet.run('another auth'), fleet.run('another edge')]);
    there = `http://127.0.0.1:${http}`;
    const isReady = async () => (await fetch(`${there}/readyz`).catch(() => undefined))?.ok ?? false;
    await until('the other edge is ready', isReady);
  });
  afterAll(() => stack.disposeAsync());
  beforeEach(async () => {
    [alice, bob] = [new Browser(fleet.api.origin), new Browser(fleet.api.origin)];
    await alice.logIn(provider, 'alice');
    await bob.logIn(provider, 'bob');
  });

  /** The code of the other edge's response. Its cache already holds the credential. */
  const codeThere = async (headers: Record<string, string>) =>
    (await parseResponse(await fetch(`${there}/api/v1/agents`, { headers }))).code;

  it.each([
    ['a logout', async () => (await bob.post('/api/v1/auth/logout')).code],
    ['another login', async () => (await bob.logIn(provider, 'bob')).status],
  ])('%s at one instance ends the login at the other once it is answered', async (_, end) => {
    const login = { cookie: bob.jar.header() };
    for (let round = 0; round < 3; round++) expect(await codeThere(login)).toBe('OK');
    expect(['OK', 302]).toContain(await end());
    expect(await codeThere(login)).toBe('UNAUTHENTICATED');
  });

  it('refuses a deleted token and a disabled user at the other instance once the change is answered', async () => {
    const { id, value } = await bob.token(['read']);
    const token = { authorization: `Bearer ${value}` };
    expect(await codeThere(token)).toBe('OK');
    await bob.send('DELETE', `/api/v1/auth/tokens/${id}`);
    expect(await codeThere(token)).toBe('UNAUTHENTICATED');
    const shown: Record<string, string>[] = [
      { cookie: bob.jar.header() },
      { authorization: `Bearer ${(await bob.token(['read'])).value}` },
      { authorization: `Bearer ${await provider.accessToken('bob')}` },
    ];
    for (const headers of shown) expect(await codeThere(headers)).toBe('OK');
    const path = `/api/v1/admin/users/${await bob.userId()}`;
    expect((await alice.post(`${path}/disable`)).code).toBe('OK');
    for (const headers of shown) expect(await codeThere(headers)).toBe('UNAUTHENTICATED');
    expect((await alice.post(`${path}/enable`)).code).toBe('OK');
    for (const headers of shown) expect(await codeThere(headers)).toBe('OK');
  });

  it('ends a stream at one instance after a logout at the other', async () => {
    const agent = await bob.post('/api/v1/agents', { name: 'Echo', model: 'rehearsal/echo' });
    const talk = await bob.post(`/api/v1/agents/${agent.data.agent_id}/conversations`);
    const url = `${there}/api/v1/sessions/${talk.data.session_id}/events/stream`;
    const stream = await fetch(url, { headers: { cookie: bob.jar.header() } });
    expect(stream.status).toBe(200);
    let text = '';
    let isLoggedOut = false;
    for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (isLoggedOut || !text.includes('session.created')) continue;
      isLoggedOut = true;
      await bob.post('/api/v1/auth/logout');
    }
    expect(isLoggedOut).toBe(true);
  });

  it('completes a login at the other instance', async () => {
    const browser = new Browser(there, fleet.api.origin);
    const begun = await alice.get('/api/v1/auth/login?return_to=/docs');
    browser.jar.keep(begun.headers);
    const query = await provider.login(begun.headers.get('location') ?? '', 'bob');
    expect((await browser.get(`/api/v1/auth/callback?${query}`)).headers.get('location')).toBe('/docs');
    expect((await browser.get('/api/v1/agents')).code).toBe('OK');
  });
});
