import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import type { AccessTokenOptions } from '../../support/identity-provider.ts';
import { until } from '../../support/wait.ts';
import { logIn, openTeamUnderTest, type TeamUnderTest } from './team.ts';

describe.each(TRANSPORTS)('access tokens of the provider, %s', (transport) => {
  let team: TeamUnderTest;
  let clock: FakeClock;

  beforeAll(async () => {
    clock = createFakeClock(new Date());
    team = await openTeamUnderTest(transport, { clock, env: { SERVICE_OIDC_INTROSPECTION: 'true' } });
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const who = (bearer: string) => team.edge.identify({ bearer, login: '' });

  it.each<[string, AccessTokenOptions, string[]]>([
    ['what its scopes say', { scope: 'agents:read' }, ['read']],
    ['reading, where it may write', { scope: 'agents:write other:read' }, ['read', 'write']],
    [
      'everything',
      { scope: 'agents:read agents:write agents:admin agents:mcp' },
      ['read', 'write', 'admin', 'mcp'],
    ],
    ['nothing without a scope of ours', { scope: 'other:read' }, []],
    ['the same when it is opaque', { scope: 'agents:read', format: 'opaque' }, ['read']],
  ])('allow %s', async (_, options, scopes) => {
    const found = await who(await team.provider.accessToken('alice', options));
    expect(found).toMatchObject({ scopes, credential: 'access_token' });
    expect(found.user?.roles.includes('administrator')).toBe(scopes.includes('admin'));
  });

  it('make known who has never logged in, and who it is that does', async () => {
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
    'for somebody else let nobody in, %s',
    async (format) => {
      const token = await team.provider.accessToken('alice', {
        audience: 'https://elsewhere.example.com',
        format,
      });
      await expect(who(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    },
  );

  it('end', async () => {
    const token = await team.provider.accessToken('alice', { lifetimeSeconds: 300 });
    await who(token);
    // The provider goes by the time of day, which ours has fallen behind.
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    clock.advance(exp * 1_000 - clock.now().getTime());
    await who(token);
    clock.advance(31_000);
    await expect(who(token)).rejects.toMatchObject({ code: 'TOKEN_EXPIRED' });
  });

  it('go on with the new keys of the provider, and those of before that are known go on, too', async () => {
    const before = await team.provider.accessToken('bob', { lifetimeSeconds: 3_600 });
    await who(before);
    await team.provider.rotateKeys();
    const after = await team.provider.accessToken('bob', { lifetimeSeconds: 3_600 });
    await until('the new key is known', () =>
      who(after).then(
        () => true,
        () => false,
      ),
    );
    await who(before);
  });

  it('are the provider’s to judge: while it is away those are refused that it has to be asked about', async () => {
    const known = await team.provider.accessToken('bob', { lifetimeSeconds: 3_600 });
    const opaque = await team.provider.accessToken('bob', { format: 'opaque', lifetimeSeconds: 3_600 });
    await who(known);
    await who(opaque);
    team.provider.away = true;
    clock.advance(2_000);
    await who(known);
    await expect(who(opaque)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    team.provider.away = false;
    await who(opaque);
  });

  it('let nobody in where no audience is set', async () => {
    await using plain = await openTeamUnderTest(transport, { env: { SERVICE_OIDC_AUDIENCE: '' } });
    const bearer = await plain.provider.accessToken('alice');
    await expect(plain.edge.identify({ bearer, login: '' })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });
});
