import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, LOCAL, NOTHING, openAuthUnderTest } from './system.ts';

describe.each(TRANSPORTS)('auth service in local mode, %s', (transport) => {
  let auth: AuthUnderTest;

  beforeAll(async () => {
    auth = await openAuthUnderTest(transport);
  });
  afterAll(() => auth[Symbol.asyncDispose]());

  it.each([
    ['nothing', NOTHING],
    ['a token', { bearer: 'any', login: '' }],
    ['a cookie', { bearer: '', login: 'any' }],
  ])('identifies a request with %s as the local administrator', async (_, shown) => {
    expect(await auth.edge.identify(shown)).toEqual({
      user: {
        userId: 'usr_00000000000000000000000001',
        displayName: 'Local administrator',
        roles: ['administrator'],
        enabled: true,
        email: '',
        groups: [],
        createdAt: expect.any(Date),
        lastSeenAt: undefined,
      },
      scopes: ['read', 'write', 'admin', 'mcp', 'approve'],
      credential: 'local',
      validForMs: expect.any(Number),
    });
  });

  it('has no authorization server', async () => {
    expect(await auth.edge.getAuthorizationServer({})).toEqual({ issuer: undefined, scopePrefix: '' });
  });

  it('returns LOGIN_NOT_AVAILABLE for logins', async () => {
    await expect(auth.edge.beginLogin({ returnTo: '/' })).rejects.toMatchObject({
      code: 'LOGIN_NOT_AVAILABLE',
    });
    await expect(auth.edge.finishLogin({ attempt: '', query: '', login: '' })).rejects.toMatchObject({
      code: 'LOGIN_NOT_AVAILABLE',
    });
    expect(await auth.edge.endLogin({ login: 'any' })).toEqual({ endSessionUrl: '' });
  });

  it('returns USER_NOT_FOUND for an unknown user', async () => {
    for (const userId of ['usr_7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'nobody', '']) {
      await expect(auth.edge.getUser({ userId })).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
    }
  });

  it('finds the local administrator by a part of the name', async () => {
    const { users } = await auth.edge.findUsers({ q: 'admin', userIds: [] }, LOCAL);
    expect(users).toEqual([{ userId: LOCAL.caller.userId, displayName: 'Local administrator', email: '' }]);
  });

  it('rejects to disable the local administrator', async () => {
    const { userId } = LOCAL.caller;
    await expect(auth.edge.setUserEnabled({ userId, enabled: false }, LOCAL)).rejects.toMatchObject({
      code: 'RESOURCE_IN_USE',
    });
  });

  it('rejects an unlisted service', async () => {
    await expect(auth.as('runner').identify(NOTHING)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('rejects a peer without the shared secret', async () => {
    const stranger = auth.as('edge', 'another secret of sufficient length');
    await expect(stranger.identify(NOTHING)).rejects.toMatchObject({ code: 'PEER_REJECTED' });
  });
});
