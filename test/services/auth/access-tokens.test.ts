import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import type { AccessTokenOptions } from '../../support/identity-provider.ts';
import { until } from '../../support/wait.ts';
import { logIn, openTeamUnderTest, type TeamUnderTest } from './team.ts';

describe.each(TRANSPORTS)('Identify RPC with access tokens of the identity provider, %s', (transport) => {
  let team: TeamUnderTest;
  let clock: FakeClock;

  beforeAll(async () => {
    clock = createFakeClock(new Date());
    team = await openTeamUnderTest(transport, { clock, env: { SERVICE_OIDC_INTROSPECTION: 'true' } });
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const who = (bearer: string) => team.edge.identify({ bearer, login: '' });

  it.each<[string, AccessTokenOptions, string[]]>([
    ['a token with the scope read', { scope: 'agents:read' }, ['read']],
    [
      'a token with the scope write, which includes read',
      { scope: 'agents:write other:read' },
      ['read', 'write'],
    ],
    [
      'a token with all scopes',
      { scope: 'agents:read agents:write agents:admin agents:mcp agents:approve' },
      ['read', 'write', 'admin', 'mcp', 'approve'],
    ],
    ['a token for protocols', { scope: 'agents:mcp' }, ['mcp']],
    ['a token without the prefix of the scopes', { scope: 'mcp approve' }, []],
    ['a token without a scope of the service', { scope: 'other:read' }, []],
    ['an opaque token with the scope read', { scope: 'agents:read', format: 'opaque' }, ['read']],
  ])('returns the scopes of %s', async (_, options, scopes) => {
    const found = await who(await team.provider.accessToken('alice', options));
    expect(found).toMatchObject({ scopes, credential: 'access_token' });
    expect(found.user?.roles.includes('administrator')).toBe(scopes.includes('admin'));
  });

  it('creates a user without a login, and completes the user at the first login', async () => {
    team.provider.accounts.dora = { name: 'Dora', email: 'dora@example.com', groups: ['night'] };
    const { user } = await who(await team.provider.accessToken('dora'));
    expect(user).toMatchObject({ displayName: 'dora', email: '', groups: ['night'], roles: ['member'] });
    const after = await logIn(team, 'dora');
    expect(after.user).toMatchObject({
      userId: user?.userId,
      displayName: 'Dora',
      email: 'dora@example.com',
    });
    const again = await who(await team.provider.accessToken('dora'));
    expect(again.user).toMatchObject({ displayName: 'Dora', email: 'dora@example.com', groups: ['night'] });
  });

  it.each<AccessTokenOptions['format']>(['jwt', 'opaque'])(
    'rejects a token for another audience, %s',
    async (format) => {
      const token = await team.provider.accessToken('alice', {
        audience: 'https://elsewhere.example.com',
        format,
      });
      await expect(who(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    },
  );

  it('rejects expired tokens', async () => {
    const token = await team.provider.accessToken('alice', { lifetimeSeconds: 300 });
    await who(token);
    // The provider uses the real time, and the fake clock is behind it.
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    clock.advance(exp * 1_000 - clock.now().getTime());
    await who(token);
    clock.advance(31_000);
    await expect(who(token)).rejects.toMatchObject({ code: 'TOKEN_EXPIRED' });
  });

  it('accepts tokens with new keys of the provider and verified tokens with old keys', async () => {
    const before = await team.provider.accessToken('bob', { lifetimeSeconds: 3_600 });
    await who(before);
    await team.provider.rotateKeys();
    const after = await team.provider.accessToken('bob', { lifetimeSeconds: 3_600 });
    await until('the new key is loaded', () =>
      who(after).then(
        () => true,
        () => false,
      ),
    );
    await who(before);
  });

  it('returns DEPENDENCY_UNAVAILABLE for tokens that need the provider while it is down', async () => {
    const known = await team.provider.accessToken('bob', { lifetimeSeconds: 3_600 });
    const opaque = await team.provider.accessToken('bob', { format: 'opaque', lifetimeSeconds: 3_600 });
    await who(known);
    await who(opaque);
    team.provider.isUnavailable = true;
    clock.advance(2_000);
    await who(known);
    await expect(who(opaque)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    team.provider.isUnavailable = false;
    await who(opaque);
  });

  it('rejects all access tokens when no audience is set', async () => {
    await using plain = await openTeamUnderTest(transport, { env: { SERVICE_OIDC_AUDIENCE: '' } });
    const bearer = await plain.provider.accessToken('alice');
    await expect(plain.edge.identify({ bearer, login: '' })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });
});
