import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, LOCAL, NOTHING } from './open.ts';
import { callerWith, logIn, openAnother, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const ABSENT = 'usr_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

/* Two replicas on one database: whatever is ended at one is refused by the other from the answer on. */
describe.each(TRANSPORTS)('users, %s', (transport) => {
  let team: TeamUnderTest;
  let other: AuthUnderTest;
  let alice: Awaited<ReturnType<typeof callerWith>>;

  beforeAll(async () => {
    const bus = createLocalBus();
    team = await openTeamUnderTest(transport, { bus, env: { SERVICE_OIDC_INTROSPECTION: 'true' } });
    other = await openAnother(transport, team, { bus });
    alice = await callerWith(team, { login: (await logIn(team, 'alice')).login });
  });
  afterAll(async () => {
    await other[Symbol.asyncDispose]();
    await team[Symbol.asyncDispose]();
  });

  const refused = (shown: Partial<typeof NOTHING>) =>
    expect(other.edge.identify({ ...NOTHING, ...shown })).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });

  it('lose a login at every replica', async () => {
    const { login } = await logIn(team, 'bob');
    await other.edge.identify({ ...NOTHING, login });
    await team.edge.endLogin({ login });
    await refused({ login });
  });

  it('lose the login that a browser had at every replica', async () => {
    const { login } = await logIn(team, 'bob');
    await other.edge.identify({ ...NOTHING, login });
    await logIn(team, 'bob', login);
    await refused({ login });
  });

  it('lose a token at every replica', async () => {
    const bob = await callerWith(team, { login: (await logIn(team, 'bob')).login });
    const request = { name: 'Short', scopes: ['read'], expiresInDays: undefined, idempotencyKey: '' };
    const { token, value } = await team.edge.createToken(request, bob);
    await other.edge.identify({ ...NOTHING, bearer: value });
    await team.edge.deleteToken({ tokenId: token?.tokenId ?? '' }, bob);
    await refused({ bearer: value });
  });

  it('who are disabled are told from others, for those who work in their names', async () => {
    const { user } = await logIn(team, 'bob');
    const userIds = [user?.userId ?? '', alice.caller.userId, ABSENT];
    const disabled = async () => (await team.as('sessions').listDisabledUsers({ userIds })).userIds;
    expect(await disabled()).toEqual([]);
    await team.edge.setUserEnabled({ userId: user?.userId ?? '', enabled: false }, alice);
    expect(await disabled()).toEqual([user?.userId]);
    await team.edge.setUserEnabled({ userId: user?.userId ?? '', enabled: true }, alice);
    expect(await disabled()).toEqual([]);
  });

  it('get in nowhere once they are disabled, whatever they carry, and again once they are not', async () => {
    const { login, user } = await logIn(team, 'bob');
    const bob = await callerWith(team, { login });
    const request = { name: 'All', scopes: ['write'], expiresInDays: undefined, idempotencyKey: '' };
    const { value } = await team.edge.createToken(request, bob);
    const shown = [
      { login },
      { bearer: value },
      { bearer: await team.provider.accessToken('bob') },
      { bearer: await team.provider.accessToken('bob', { format: 'opaque' }) },
    ];
    const userId = user?.userId ?? '';
    for (const one of shown)
      expect((await other.edge.identify({ ...NOTHING, ...one })).user?.userId).toBe(userId);

    const { user: disabled } = await team.edge.setUserEnabled({ userId, enabled: false }, alice);
    expect(disabled).toMatchObject({ userId, enabled: false });
    for (const one of shown) await refused(one);
    await expect(logIn(team, 'bob')).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    expect((await team.as('deployments').getUser({ userId })).user?.enabled).toBe(false);

    await team.edge.setUserEnabled({ userId, enabled: true }, alice);
    for (const one of shown) await other.edge.identify({ ...NOTHING, ...one });
    await logIn(team, 'bob');
  });

  it('stop being administrators at every replica when the provider says so', async () => {
    team.provider.accounts.eve = { name: 'Eve', groups: ['operators'] };
    const { login } = await logIn(team, 'eve');
    const roles = async () => (await other.edge.identify({ ...NOTHING, login })).user?.roles;
    expect(await roles()).toEqual(['member', 'administrator']);
    team.provider.accounts.eve = { name: 'Eve', groups: ['others'] };
    await team.edge.identify({ ...NOTHING, bearer: await team.provider.accessToken('eve') });
    expect(await roles()).toEqual(['member']);
  });

  it('are enabled and disabled by administrators, and not themselves', async () => {
    const { user, login } = await logIn(team, 'bob');
    const bob = await callerWith(team, { login });
    const userId = user?.userId ?? '';
    await expect(team.edge.setUserEnabled({ userId, enabled: false }, bob)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    await expect(team.edge.listUsers({ page: undefined, q: '' }, bob)).rejects.toMatchObject({
      code: 'FORBIDDEN',
    });
    for (const protectedId of [alice.caller.userId, LOCAL.caller.userId]) {
      const asked = team.edge.setUserEnabled({ userId: protectedId, enabled: false }, alice);
      await expect(asked).rejects.toMatchObject({ code: 'RESOURCE_IN_USE' });
    }
    for (const absent of [ABSENT, 'nobody', '']) {
      const asked = team.edge.setUserEnabled({ userId: absent, enabled: false }, alice);
      await expect(asked).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
    }
  });

  it('are found by name, by address and by id, newest first', async () => {
    const names = async (q: string) =>
      (await team.edge.listUsers({ page: undefined, q }, alice)).users.map(({ displayName }) => displayName);
    await logIn(team, 'root');
    expect(await names('')).toEqual(expect.arrayContaining(['Alice', 'Bob', 'Root', 'Local administrator']));
    expect(await names('ALICE@')).toEqual(['Alice']);
    expect(await names(alice.caller.userId)).toEqual(['Alice']);
    expect(await names(alice.caller.userId.slice(0, -1))).toEqual([]);
    expect(await names('%')).toEqual([]);
    const { users, page } = await team.edge.listUsers({ page: { limit: 1, cursor: '' }, q: '' }, alice);
    expect(users.map(({ displayName }) => displayName)).toEqual(['Root']);
    const next = { limit: 1, cursor: page?.nextCursor ?? '' };
    expect((await team.edge.listUsers({ page: next, q: '' }, alice)).users[0]?.displayName).not.toBe('Root');
    await expect(team.edge.listUsers({ page: next, q: 'b' }, alice)).rejects.toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });

  it('of another provider are nobody', async () => {
    const { login } = await logIn(team, 'bob');
    await using moved = await openTeamUnderTest(transport, { databaseUrl: team.databaseUrl });
    await expect(moved.edge.identify({ ...NOTHING, login })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });
});
