import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchange } from '../../support/raw-http.ts';
import { expectHeaders, expectRefusal } from '../envelope.ts';
import { Browser } from './browser.ts';
import { startTeam, type Team } from './team.ts';

const LOGIN = '/api/v1/auth/login';
const CALLBACK = '/api/v1/auth/callback';
const SESSION = '/api/v1/auth/session';
const LOGOUT = '/api/v1/auth/logout';

describe('the browser login', () => {
  let team: Team;
  beforeAll(async () => {
    team = await startTeam();
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const open = () => new Browser(team.url);
  const begin = async (browser: Browser, returnTo = '/docs') => {
    const { headers } = await browser.get(`${LOGIN}?return_to=${encodeURIComponent(returnTo)}`);
    return headers.get('location') ?? '';
  };
  const codeAt = async (browser: Browser, path: string) => (await browser.get(path)).code;

  it('redirects to the identity provider and back to return_to', async () => {
    const browser = open();
    const begun = await browser.get(`${LOGIN}?return_to=%2Fdocs%3Fa%3D1`);
    expect(begun).toMatchObject({ status: 302, text: '' });
    expect(begun.headers.get('location')).toMatch(`${team.provider.issuer}/auth?`);
    expect(begun.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^ahs_attempt=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    const query = await team.provider.login(begun.headers.get('location') ?? '', 'bob');
    const finished = await browser.get(`${CALLBACK}?${query}`);
    expect(finished).toMatchObject({ status: 302, text: '' });
    expect(finished.headers.get('location')).toBe('/docs?a=1');
    expect(finished.headers.getSetCookie().toSorted()).toEqual([
      expect.stringMatching(
        /^ahs_attempt=; Max-Age=0; Path=\/; Expires=Thu, 01 Jan 1970 .*; HttpOnly; SameSite=Lax$/,
      ),
      expect.stringMatching(/^ahs_login=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/),
    ]);
    expect((await browser.get(SESSION)).data).toEqual({
      mode: 'oidc',
      authenticated: true,
      user: {
        user_id: expect.stringMatching(/^usr_/),
        display_name: 'Bob',
        email: 'bob@example.com',
        roles: ['member'],
        groups: [],
        enabled: true,
        created_at: expect.any(String),
        last_seen_at: expect.any(String),
      },
      scopes: ['read', 'write', 'admin', 'mcp', 'approve'],
      login_url: LOGIN,
    });
  });

  it('GET /auth/session returns authenticated: false for missing and invalid credentials', async () => {
    const anonymous = { mode: 'oidc', authenticated: false, user: null, scopes: [], login_url: LOGIN };
    const garbage = 'ahs_login=bm90aGluZyB0aGF0IGlzIGtub3duIGhlcmUgYXQgYWxs';
    const shown: Record<string, string>[] = [
      {},
      { authorization: 'Bearer ahs_x' },
      { authorization: 'Bearer' },
      { cookie: garbage },
    ];
    for (const headers of shown) {
      const answer = await open().send('GET', SESSION, undefined, headers);
      expect(answer).toMatchObject({ status: 200, code: 'OK', data: anonymous });
      expectHeaders(answer);
    }
  });

  it('GET /auth/session returns the user and scopes of a token', async () => {
    const { value } = await (await team.logIn('alice')).token(['read']);
    const { data } = await open().send('GET', SESSION, undefined, { authorization: `bearer ${value}` });
    // Without the scope admin, an administrator has the role member.
    expect(data).toMatchObject({ authenticated: true, scopes: ['read'], user: { roles: ['member'] } });
  });

  describe('return_to', () => {
    it.each([
      '/',
      '/docs',
      '/docs?a=%2F%2Fevil.example',
      '/a/b#c',
      '/:80/x',
      '/@evil.example',
      '/docs?u=https://evil.example',
    ])('redirects to %j, which is a path of this origin', async (path) => {
      const answer = await open().logIn(team.provider, 'bob', path);
      expect(answer.headers.get('location')).toBe(path);
    });

    it.each([
      '//evil.example',
      '///evil.example',
      '/\\evil.example',
      '\\\\evil.example',
      '\\/evil.example',
      '/\t/evil.example',
      '/\n/evil.example',
      '/\r\nSet-Cookie: x=y',
      '\t//evil.example',
      ' //evil.example',
      'https://evil.example',
      'https:evil.example',
      'https:/evil.example',
      'HTTPS:evil.example',
      'javascript:alert(1)',
      'data:text/html,x',
      'evil.example',
      '@evil.example',
      '.evil.example',
      '?x',
      '#x',
      '',
      '/../\\evil.example',
      '/..//evil.example',
      '/./\\/evil.example',
      '/%09/evil.example\t',
      '/\u2028/evil.example',
      '/\u00a0',
      `/${'x'.repeat(1_990)}\\`,
    ])('redirects to / for return_to %j', async (path) => {
      const answer = await open().logIn(team.provider, 'bob', path);
      expect(answer.headers.get('location')).toBe('/');
    });

    it('returns 400 for repeated, overlong and unknown query parameters', async () => {
      for (const query of [
        'return_to=/a&return_to=//evil.example',
        'return_to=%00',
        'returnTo=/a',
        `return_to=/${'x'.repeat(3_000)}`,
      ])
        expect((await open().get(`${LOGIN}?${query}`)).status, query).toBe(400);
    });
  });

  describe('GET /auth/callback', () => {
    const failsWith = async (browser: Browser, query: string) => {
      const answer = await browser.get(`${CALLBACK}?${query}`);
      expect(answer).toMatchObject({ status: 403, code: 'LOGIN_FAILED' });
      expect(answer.headers.getSetCookie().filter((line) => line.startsWith('ahs_login'))).toEqual([]);
      // The parameters of the callback are not forwarded.
      for (const [, value] of new URLSearchParams(query))
        if (value.length > 9) expect(answer.text).not.toContain(value);
      return answer;
    };

    it('accepts a login attempt once', async () => {
      const browser = open();
      const query = await team.provider.login(await begin(browser), 'bob');
      const attempt = browser.jar.header();
      expect((await browser.get(`${CALLBACK}?${query}`)).status).toBe(302);
      await failsWith(browser, query);
      const again = new Browser(team.url);
      again.jar.keep(new Headers({ 'set-cookie': `${attempt}; Path=/` }));
      await failsWith(again, query);
      // An existing login is kept.
      expect((await browser.get(SESSION)).data).toMatchObject({ authenticated: true });
    });

    it("refuses another browser's attempt and another attempt's state", async () => {
      const [mine, theirs] = [open(), open()];
      const myQuery = await team.provider.login(await begin(mine), 'bob');
      const theirQuery = await team.provider.login(await begin(theirs), 'carol');
      await failsWith(open(), myQuery);
      await failsWith(mine, theirQuery);
      await failsWith(theirs, myQuery);
    });

    it.each<[string, Record<string, string | undefined>]>([
      ['no state', { state: undefined }],
      ['another state', { state: 'x'.repeat(43) }],
      ['no code', { code: undefined }],
      ['another code', { code: 'x'.repeat(43) }],
      ['another issuer', { iss: 'https://evil.example' }],
      ['no issuer', { iss: undefined }],
      ['a refusal', { code: undefined, error: 'access_denied', error_description: 'something long' }],
      ['an ID token in the query', { id_token: 'e30.e30.e30' }],
      ['a query that is too long', { more: 'y'.repeat(9_000) }],
    ])('refuses an identity with %s', async (_, changes) => {
      const browser = open();
      const query = new URLSearchParams(await team.provider.login(await begin(browser), 'bob'));
      for (const [name, value] of Object.entries(changes)) {
        if (value === undefined) query.delete(name);
        else query.set(name, value);
      }
      await failsWith(browser, query.toString());
      expect((await browser.get(SESSION)).data).toMatchObject({ authenticated: false });
    });

    it.each(['', 'state', 'state=', '=&=', '%zz=%ff&state=%ff', 'state=a&state=b', '__proto__=x'])(
      'refuses the query %j',
      async (query) => {
        const browser = open();
        await begin(browser);
        await failsWith(browser, query);
      },
    );

    it('refuses a disabled user', async () => {
      team.provider.accounts.zoe = { name: 'Zoe' };
      const zoe = await (await team.logIn('zoe')).userId();
      const alice = await team.logIn('alice');
      await alice.post(`/api/v1/admin/users/${zoe}/disable`);
      const browser = open();
      await failsWith(browser, await team.provider.login(await begin(browser), 'zoe'));
    });
  });

  it('replaces the previous login and ignores a login cookie that was planted', async () => {
    const browser = open();
    await browser.logIn(team.provider, 'bob');
    const before = browser.jar.header();
    await browser.logIn(team.provider, 'bob');
    expect(browser.jar.header()).not.toBe(before);
    expect((await open().send('GET', '/api/v1/agents', undefined, { cookie: before })).code).toBe(
      'UNAUTHENTICATED',
    );
    const planted = `ahs_login=${'A'.repeat(43)}`;
    const victim = open();
    victim.jar.keep(new Headers({ 'set-cookie': `${planted}; Path=/` }));
    await victim.logIn(team.provider, 'carol');
    expect(victim.jar.header()).not.toContain(planted);
    expect((await open().send('GET', '/api/v1/agents', undefined, { cookie: planted })).code).toBe(
      'UNAUTHENTICATED',
    );
  });

  it('ends a login immediately on logout', async () => {
    const browser = await team.logIn('bob');
    const cookie = browser.jar.header();
    expect(await codeAt(browser, '/api/v1/agents')).toBe('OK');
    const answer = await browser.post(LOGOUT);
    expect(answer.data.logged_out).toBe(true);
    expect(String(answer.data.end_session_url)).toMatch(`${team.provider.issuer}/session/end?`);
    expect(answer.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^ahs_login=; Max-Age=0; Path=\/; Expires=Thu, 01 Jan 1970 .*; HttpOnly; SameSite=Lax$/,
      ),
    ]);
    expect(browser.jar.header()).toBe('');
    expect((await open().send('GET', '/api/v1/agents', undefined, { cookie })).code).toBe('UNAUTHENTICATED');
    // Logging out without a login succeeds.
    expect((await browser.post(LOGOUT)).data).toMatchObject({ logged_out: true, end_session_url: null });
  });

  it('returns 405 for HEAD, so that HEAD neither begins nor finishes a login', async () => {
    for (const path of [LOGIN, CALLBACK]) {
      const answer = await open().send('HEAD', path);
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('GET');
      expect(answer.headers.getSetCookie()).toEqual([]);
    }
  });

  it('allows links from other sites to the login, but no other cross-site requests', async () => {
    const followed = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    };
    const framed = { ...followed, 'sec-fetch-dest': 'iframe' };
    const loaded = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' };
    const { host } = new URL(team.url);
    // fetch() sets its own Sec-Fetch-Mode.
    const request = (path: string, headers: Record<string, string>) => {
      const lines = Object.entries({ host, connection: 'close', ...headers }).map(
        ([name, value]) => `${name}: ${value}`,
      );
      return exchange(team.url, `GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    };
    expect((await request(LOGIN, followed)).status).toBe(302);
    expectRefusal(await request(CALLBACK, followed), 'LOGIN_FAILED');
    for (const headers of [framed, loaded])
      for (const path of [LOGIN, CALLBACK]) expectRefusal(await request(path, headers), 'CSRF_REJECTED');
    expectRefusal(await request(SESSION, followed), 'CSRF_REJECTED');
  });

  it('fails while the identity provider is unreachable and keeps existing logins', async () => {
    const browser = await team.logIn('bob');
    team.provider.isUnavailable = true;
    expect(await codeAt(browser, '/api/v1/agents')).toBe('OK');
    const anonymous = open();
    const attempt = await anonymous.get(`${CALLBACK}?state=x&code=y`);
    expect(attempt.code).toBe('LOGIN_FAILED');
    team.provider.isUnavailable = false;
  });
});

describe('with an https SERVICE_PUBLIC_URL', () => {
  const PAGE = 'https://agents.example.com';
  let team: Team;
  beforeAll(async () => {
    team = await startTeam({ SERVICE_PUBLIC_URL: PAGE });
  });
  afterAll(() => team[Symbol.asyncDispose]());

  it('sets cookies with the __Host- prefix and the Secure flag', async () => {
    const browser = new Browser(team.url, PAGE);
    const begun = await browser.get(LOGIN);
    expect(begun.headers.getSetCookie()).toEqual([
      expect.stringMatching(
        /^__Host-ahs_attempt=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
    const query = await team.provider.login(begun.headers.get('location') ?? '', 'bob');
    const finished = await browser.get(`${CALLBACK}?${query}`);
    expect(finished.headers.getSetCookie().toSorted()).toEqual([
      expect.stringMatching(/^__Host-ahs_attempt=; Max-Age=0; .*; HttpOnly; Secure; SameSite=Lax$/),
      expect.stringMatching(
        /^__Host-ahs_login=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
      ),
    ]);
    expect((await browser.get('/api/v1/agents')).code).toBe('OK');
    // Another host of the same domain could set a cookie without the prefix.
    const cookie = browser.jar.header().replace('__Host-', '');
    expect((await browser.send('GET', '/api/v1/agents', undefined, { cookie })).code).toBe('UNAUTHENTICATED');
    expect((await browser.post(LOGOUT)).data.logged_out).toBe(true);
  });

  it('accepts any Host, and changes only from pages of the public origin', async () => {
    const browser = new Browser(team.url, PAGE);
    await browser.logIn(team.provider, 'bob');
    const cookie = browser.jar.header();
    const change = async (headers: Record<string, string>) =>
      (await browser.send('POST', '/api/v1/agents', {}, { cookie, ...headers })).code;
    expect(await change({ origin: PAGE })).toBe('INVALID_REQUEST');
    expect(await change({ 'sec-fetch-site': 'same-origin' })).toBe('INVALID_REQUEST');
    for (const origin of [
      team.url,
      'https://agents.example.com:8443',
      'http://agents.example.com',
      'https://evil.agents.example.com',
      'https://agents.example.com.evil.example',
      'null',
      '',
      `${PAGE}, https://evil.example`,
    ])
      expect(await change({ origin }), origin).toBe('CSRF_REJECTED');
    for (const site of ['cross-site', 'same-site', 'none', 'SAME-ORIGIN', ''])
      expect(await change({ 'sec-fetch-site': site }), site).toBe('CSRF_REJECTED');
    expect(await change({ origin: PAGE, 'sec-fetch-site': 'cross-site' })).toBe('CSRF_REJECTED');
    expect(await change({ referer: `${PAGE}/docs` })).toBe('CSRF_REJECTED');
    expect(await change({})).toBe('CSRF_REJECTED');
  });

  it('accepts bearer tokens without an Origin of the service', async () => {
    const browser = new Browser(team.url, PAGE);
    await browser.logIn(team.provider, 'bob');
    const { value } = await browser.token(['write']);
    const besides: Record<string, string>[] = [
      {},
      { origin: PAGE },
      { 'sec-fetch-site': 'cross-site' },
      { cookie: browser.jar.header() },
    ];
    for (const headers of besides) {
      const shown = { ...headers, authorization: `Bearer ${value}` };
      expect((await browser.send('POST', '/api/v1/agents', {}, shown)).code).toBe('INVALID_REQUEST');
    }
  });

  it('writes the public origin into the documents for any Host header', async () => {
    const { text } = await new Browser(team.url).send('GET', '/openapi.json');
    expect(JSON.parse(text).servers).toEqual([{ url: `${PAGE}/api/v1` }]);
  });
});
