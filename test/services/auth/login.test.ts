import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { NOTHING } from './system.ts';
import { logIn, ORIGIN, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe.each(TRANSPORTS)('logins with an identity provider, %s', (transport) => {
  let team: TeamUnderTest;
  let clock: FakeClock;

  beforeAll(async () => {
    clock = createFakeClock(new Date());
    team = await openTeamUnderTest(transport, { clock });
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const who = (login: string) => team.edge.identify({ ...NOTHING, login });

  it('redirects to the provider with a new state, nonce and PKCE challenge each time', async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 3; round++) {
      const { authorizationUrl, attempt, lifetimeSeconds } = await team.edge.beginLogin({ returnTo: '/' });
      const url = new URL(authorizationUrl);
      expect(url.origin).toBe(team.provider.issuer);
      expect(Object.fromEntries(url.searchParams)).toMatchObject({
        response_type: 'code',
        scope: 'openid profile email',
        code_challenge_method: 'S256',
        redirect_uri: `${ORIGIN}/api/v1/auth/callback`,
      });
      expect(lifetimeSeconds).toBe(600);
      for (const name of ['state', 'nonce', 'code_challenge']) seen.add(url.searchParams.get(name) ?? '');
      seen.add(attempt);
    }
    expect(seen.size).toBe(12);
  });

  it('completes a login and identifies its user', async () => {
    const { login, lifetimeSeconds, user, returnTo } = await logIn(team, 'alice', '', '/sessions?q=1#top');
    expect(login).toMatch(/^[\w-]{43}$/);
    expect({ lifetimeSeconds, returnTo }).toEqual({
      lifetimeSeconds: 168 * 3_600,
      returnTo: '/sessions?q=1#top',
    });
    expect(user).toEqual({
      userId: expect.stringMatching(/^usr_/),
      displayName: 'Alice',
      roles: ['member', 'administrator'],
      enabled: true,
      email: 'alice@example.com',
      groups: ['everybody', 'operators'],
      createdAt: expect.any(Date),
      lastSeenAt: expect.any(Date),
    });
    expect(await who(login)).toEqual({
      user,
      scopes: ['read', 'write', 'admin', 'mcp', 'approve'],
      credential: expect.stringMatching(/^lgn_/),
      validForMs: 1_000,
    });
  });

  it('returns the same user at the next login', async () => {
    const first = await logIn(team, 'bob');
    const second = await logIn(team, 'bob');
    expect(second.user?.userId).toBe(first.user?.userId);
    expect(second.user?.roles).toEqual(['member']);
    expect(second.login).not.toBe(first.login);
  });

  it('gives the role administrator only for a verified address', async () => {
    expect((await logIn(team, 'root')).user?.roles).toContain('administrator');
    team.provider.accounts.impostor = { email: 'root@example.com', emailVerified: false };
    const { user } = await logIn(team, 'impostor');
    expect(user).toMatchObject({ roles: ['member'], email: '', displayName: 'impostor' });
  });

  it('does not match addresses with similar letters', async () => {
    team.provider.accounts.kim = { email: 'KIM@example.com' };
    expect((await logIn(team, 'kim')).user).toMatchObject({
      email: 'kim@example.com',
      roles: ['member', 'administrator'],
    });
    // The Kelvin sign (U+212A) has the same lowercase letter as K.
    team.provider.accounts.kelvin = { email: '\u212Aim@example.com' };
    expect((await logIn(team, 'kelvin')).user?.roles).toEqual(['member']);
  });

  it.each([
    ['not verified any more', { email: 'root@example.com', emailVerified: false }],
    ['changed, and not verified', { email: 'new@example.com', emailVerified: false }],
    ['missing', {}],
  ])('removes the role administrator when the address is %s', async (what, account) => {
    team.provider.accounts[what] = { email: 'root@example.com' };
    const { login } = await logIn(team, what);
    expect((await who(login)).user?.roles).toContain('administrator');
    team.provider.accounts[what] = account;
    await logIn(team, what);
    expect((await who(login)).user).toMatchObject({ email: '', roles: ['member'] });
  });

  it('updates the user at every login', async () => {
    team.provider.accounts.carol = { name: 'Carol', email: 'carol@example.com', groups: ['operators'] };
    const { login } = await logIn(team, 'carol');
    expect((await who(login)).user?.roles).toContain('administrator');
    team.provider.accounts.carol = { name: 'Caroline' };
    await logIn(team, 'carol');
    expect((await who(login)).user).toMatchObject({ displayName: 'Caroline', groups: [], roles: ['member'] });
  });

  it('ends the earlier login of the browser', async () => {
    const before = await logIn(team, 'bob');
    const after = await logIn(team, 'bob', before.login);
    await expect(who(before.login)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect((await who(after.login)).user?.displayName).toBe('Bob');
  });

  it('ends a login immediately, here and at the provider, and only once', async () => {
    const { login } = await logIn(team, 'bob');
    await who(login);
    const url = new URL((await team.edge.endLogin({ login })).endSessionUrl);
    expect(url.origin).toBe(team.provider.issuer);
    expect(url.searchParams.get('post_logout_redirect_uri')).toBe(`${ORIGIN}/`);
    const response = await fetch(url);
    expect({ status: response.status, text: await response.text() }).toMatchObject({
      status: 200,
      text: expect.stringContaining('name="logout"'),
    });
    await expect(who(login)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    expect(await team.edge.endLogin({ login })).toEqual({ endSessionUrl: '' });
    expect(await team.edge.endLogin({ login: 'no login at all' })).toEqual({ endSessionUrl: '' });
  });

  it('ends a login that is not used', async () => {
    const { login } = await logIn(team, 'bob');
    for (let hours = 0; hours < 24; hours += 6) {
      clock.advance(6 * HOUR_MS);
      await used(login);
    }
    clock.advance(12 * HOUR_MS);
    await expect(who(login)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('ends a login after a week of use', async () => {
    const { login } = await logIn(team, 'bob');
    for (let hours = 0; hours < 162; hours += 6) {
      clock.advance(6 * HOUR_MS);
      await used(login);
    }
    clock.advance(6 * HOUR_MS);
    await expect(who(login)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('fails fast while the provider is down, and works again afterwards', async () => {
    const { login } = await logIn(team, 'bob');
    team.provider.isUnavailable = true;
    clock.advance(2_000);
    expect((await who(login)).user?.displayName).toBe('Bob');
    team.provider.isUnavailable = false;
    expect((await logIn(team, 'alice')).user?.displayName).toBe('Alice');
  });

  it('accepts ID tokens with new keys of the provider', async () => {
    for (let round = 0; round < 3; round++) {
      await team.provider.rotateKeys();
      expect((await logIn(team, 'bob')).user?.displayName).toBe('Bob');
    }
  });

  /** Uses the login, and waits until the use is stored. */
  async function used(login: string) {
    const { credential } = await who(login);
    const last = async () => {
      const sql = `select seen_at from auth.logins where login_id = '${credential}'`;
      return (await rowsOn<{ seen_at: Date }>(team.databaseUrl, sql))[0]?.seen_at.getTime() ?? 0;
    };
    const now = clock.now().getTime();
    await until('the use is stored', async () => {
      clock.advance(1_000);
      return (await last()) >= now;
    });
  }
});
