import { describe, expect, it } from 'vitest';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { CLIENT_ID } from '../../support/identity-provider.ts';
import { countOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { NOTHING } from './open.ts';
import { logIn, openTeamUnderTest } from './team.ts';

const HOUR_MS = 60 * 60 * 1_000;

describe.each(TRANSPORTS)('identity providers, %s', (transport) => {
  it('that say little in their ID tokens are asked for the rest', async () => {
    await using team = await openTeamUnderTest(transport, {}, { thinIdTokens: true });
    expect((await logIn(team, 'alice')).user).toMatchObject({
      displayName: 'Alice',
      email: 'alice@example.com',
      groups: ['everybody', 'operators'],
      roles: ['member', 'administrator'],
    });
    expect(team.provider.requests).toContain('/me');
  });

  it('know the service without a secret', async () => {
    const env = { SERVICE_OIDC_CLIENT_SECRET: '' };
    await using team = await openTeamUnderTest(transport, { env }, { clientSecret: '' });
    expect((await logIn(team, 'alice')).user?.displayName).toBe('Alice');
  });

  it('that do not know the service let nobody in', async () => {
    const env = { SERVICE_OIDC_CLIENT_SECRET: 'another' };
    await using team = await openTeamUnderTest(transport, { env });
    await expect(logIn(team, 'alice')).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
  });

  it('need not be there when the service starts', async () => {
    const clock = createFakeClock(new Date());
    await using team = await openTeamUnderTest(transport, { clock });
    team.provider.away = true;
    await expect(team.edge.beginLogin({ returnTo: '/' })).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
    team.provider.away = false;
    const { login } = await logIn(team, 'alice');
    team.provider.away = true;
    clock.advance(2 * HOUR_MS);
    // It is asked again what it is like, in vain; what it has said goes on counting.
    const { authorizationUrl } = await team.edge.beginLogin({ returnTo: '/' });
    expect(new URL(authorizationUrl).searchParams.get('client_id')).toBe(CLIENT_ID);
    expect((await team.edge.identify({ ...NOTHING, login })).user?.displayName).toBe('Alice');
    expect((await team.edge.endLogin({ login })).endSessionUrl).toContain(team.provider.issuer);
  });

  it('leave nothing behind of logins that have ended, and of those that were never finished', async () => {
    const clock = createFakeClock(new Date());
    await using team = await openTeamUnderTest(transport, { clock });
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
