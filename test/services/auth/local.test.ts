import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, LOCAL, NOTHING, openAuthUnderTest } from './open.ts';

describe.each(TRANSPORTS)('auth in local mode, %s', (transport) => {
  let auth: AuthUnderTest;

  beforeAll(async () => {
    auth = await openAuthUnderTest(transport);
  });
  afterAll(() => auth[Symbol.asyncDispose]());

  it.each([
    ['nothing', NOTHING],
    ['a token', { bearer: 'whatever', login: '' }],
    ['a cookie', { bearer: '', login: 'whatever' }],
  ])('identifies whoever shows %s as the local administrator', async (_, shown) => {
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
      scopes: ['read', 'write', 'admin', 'mcp'],
      credential: 'local',
    });
  });

  it('has no login', async () => {
    await expect(auth.edge.beginLogin({ returnTo: '/' })).rejects.toMatchObject({
      code: 'LOGIN_NOT_AVAILABLE',
    });
    await expect(auth.edge.finishLogin({ attempt: '', query: '', login: '' })).rejects.toMatchObject({
      code: 'LOGIN_NOT_AVAILABLE',
    });
    expect(await auth.edge.endLogin({ login: 'whatever' })).toEqual({ endSessionUrl: '' });
  });

  it('refuses a user it does not know', async () => {
    for (const userId of ['usr_7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'nobody', '']) {
      await expect(auth.edge.getUser({ userId })).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
    }
  });

  it('keeps the local administrator enabled', async () => {
    const { userId } = LOCAL.caller;
    await expect(auth.edge.setUserEnabled({ userId, enabled: false }, LOCAL)).rejects.toMatchObject({
      code: 'RESOURCE_IN_USE',
    });
  });

  it('refuses a service that the table does not name', async () => {
    await expect(auth.as('runner').identify(NOTHING)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  });

  it('refuses a peer without the shared secret', async () => {
    const stranger = auth.as('edge', 'another secret of sufficient length');
    await expect(stranger.identify(NOTHING)).rejects.toMatchObject({ code: 'PEER_REJECTED' });
  });
});
