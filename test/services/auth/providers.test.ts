import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { CLIENT_ID } from '../../support/identity-provider.ts';
import { countOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { NOTHING } from './system.ts';
import { logIn, openTeamUnderTest } from './team.ts';

const HOUR_MS = 60 * 60 * 1_000;

describe('auth service with different identity providers', () => {
  it('requests user info when the ID token has few claims', async () => {
    await using team = await openTeamUnderTest('in process', {}, { thinIdTokens: true });
    expect((await logIn(team, 'alice')).user).toMatchObject({
      displayName: 'Alice',
      email: 'alice@example.com',
      groups: ['everybody', 'operators'],
      roles: ['member', 'administrator'],
    });
    expect(team.provider.requests).toContain('/me');
  });

  it('logs in as a public client without a secret', async () => {
    const env = { SERVICE_OIDC_CLIENT_SECRET: '' };
    await using team = await openTeamUnderTest('in process', { env }, { clientSecret: '' });
    expect((await logIn(team, 'alice')).user?.displayName).toBe('Alice');
  });

  it('rejects a login when the provider does not know the client', async () => {
    const env = { SERVICE_OIDC_CLIENT_SECRET: 'another' };
    await using team = await openTeamUnderTest('in process', { env });
    await expect(logIn(team, 'alice')).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
  });

  it('starts while the provider is down', async () => {
    const clock = createFakeClock(new Date());
    await using team = await openTeamUnderTest('in process', { clock });
    team.provider.isUnavailable = true;
    await expect(team.edge.beginLogin({ returnTo: '/' })).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
    team.provider.isUnavailable = false;
    const { login } = await logIn(team, 'alice');
    team.provider.isUnavailable = true;
    clock.advance(2 * HOUR_MS);
    // The discovery document is requested again and the request fails, so the previous document stays in use.
    const { authorizationUrl } = await team.edge.beginLogin({ returnTo: '/' });
    expect(new URL(authorizationUrl).searchParams.get('client_id')).toBe(CLIENT_ID);
    expect((await team.edge.identify({ ...NOTHING, login })).user?.displayName).toBe('Alice');
    expect((await team.edge.endLogin({ login })).endSessionUrl).toContain(team.provider.issuer);
  });

  it('deletes ended and unfinished logins', async () => {
    const clock = createFakeClock(new Date());
    await using team = await openTeamUnderTest('in process', { clock });
    await logIn(team, 'alice');
    await team.edge.beginLogin({ returnTo: '/' });
    const rows = (table: string) => countOn(team.databaseUrl, `select count(*) from auth.${table}`);
    expect([await rows('logins'), await rows('login_attempts')]).toEqual([1, 1]);
    const gone = (table: string) =>
      until(`${table} are swept`, async () => {
        clock.advance(HOUR_MS / 6);
        return (await rows(table)) === 0;
      });
    await gone('login_attempts');
    await gone('logins');
  });
});
