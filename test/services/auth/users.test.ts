import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { runOn } from '../../support/sql.ts';
import { type AuthUnderTest, LOCAL, NOTHING } from './system.ts';
import { callerWith, logIn, openAnother, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const ABSENT = 'usr_7ZZZZZZZZZZZZZZZZZZZZZZZZZ';

/* Two replicas on one database. After a change at one replica has returned, the other replica applies it, too. */
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

  const refused = (credentials: Partial<typeof NOTHING>) =>
    expect(other.edge.identify({ ...NOTHING, ...credentials })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });

  it('cannot use an ended login at any replica', async () => {
    const { login } = await logIn(team, 'bob');
    await other.edge.identify({ ...NOTHING, login });
    await team.edge.endLogin({ login });
    await refused({ login });
  });

  it('cannot use the earlier login of a browser at any replica', async () => {
    const { login } = await logIn(team, 'bob');
    await other.edge.identify({ ...NOTHING, login });
    await logIn(team, 'bob', login);
    await refused({ login });
  });

  it('cannot use a deleted token at any replica', async () => {
    const bob = await callerWith(team, { login: (await logIn(team, 'bob')).login });
    const request = { name: 'Short', scopes: ['read'], expiresInDays: undefined, idempotencyKey: '' };
    const { token, value } = await team.edge.createToken(request, bob);
    await other.edge.identify({ ...NOTHING, bearer: value });
    await team.edge.deleteToken({ tokenId: token?.tokenId ?? '' }, bob);
    await refused({ bearer: value });
  });

  it('are found by every user, by a part of the name or e-mail address', async () => {
    const bob = await callerWith(team, { login: (await logIn(team, 'bob')).login });
    const find = async (q: string) => (await team.edge.findUsers({ q, userIds: [] }, bob)).users;
    const [found] = await find('ALI');
    expect(found).toMatchObject({ userId: alice.caller.userId, email: expect.stringContaining('alice') });
    expect(Object.keys(found ?? {}).sort()).toEqual(['displayName', 'email', 'userId']);
    expect(await find(found?.email ?? '')).toEqual([found]);
    expect(await find('%%')).toEqual([]);
    // The administrator of local mode cannot log in.
    expect(await find('Local administrator')).toEqual([]);
  });

  it('are found in an answer of at most 20, the newest first', async () => {
    await runOn(
      team.databaseUrl,
      `insert into auth.users (user_id, display_name, roles, email, issuer, subject)
       select 'usr_' || lpad(i::text, 26, '0'), 'Numbered ' || i, '{}', '', '${team.provider.issuer}', 'numbered-' || i
       from generate_series(11, 31) i`,
    );
    const { users } = await team.edge.findUsers({ q: 'numbered', userIds: [] }, alice);
    expect(users.map(({ displayName }) => displayName)).toEqual(
      Array.from({ length: 20 }, (_, index) => `Numbered ${31 - index}`),
    );
  });

  it('are not found by a text while they are disabled, but by their id', async () => {
    const { user } = await logIn(team, 'bob');
    const userId = user?.userId ?? '';
    await team.edge.setUserEnabled({ userId, enabled: false }, alice);
    expect((await team.edge.findUsers({ q: 'bob', userIds: [] }, alice)).users).toEqual([]);
    const { users: named } = await team.edge.findUsers({ q: '', userIds: [userId, ABSENT] }, alice);
    expect(named).toMatchObject([{ userId }]);
    await team.edge.setUserEnabled({ userId, enabled: true }, alice);
  });

  it.each([
    ['a text of one character', { q: ' b ', userIds: [] }],
    ['no text and no id', { q: '', userIds: [] }],
    ['a text and ids', { q: 'bob', userIds: [ABSENT] }],
    ['101 ids', { q: '', userIds: Array.from({ length: 101 }, () => ABSENT) }],
  ])('are not searched with %s', async (_, request) => {
    await expect(team.edge.findUsers(request, alice)).rejects.toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('are returned by ListDisabledUsers when they are disabled', async () => {
    const { user } = await logIn(team, 'bob');
    const userIds = [user?.userId ?? '', alice.caller.userId, ABSENT];
    const disabled = async () => (await team.as('sessions').listDisabledUsers({ userIds })).userIds;
    expect(await disabled()).toEqual([]);
    await team.edge.setUserEnabled({ userId: user?.userId ?? '', enabled: false }, alice);
    expect(await disabled()).toEqual([user?.userId]);
    await team.edge.setUserEnabled({ userId: user?.userId ?? '', enabled: true }, alice);
    expect(await disabled()).toEqual([]);
  });

  it('are rejected with every credential while they are disabled', async () => {
    const { login, user } = await logIn(team, 'bob');
    const bob = await callerWith(team, { login });
    const request = { name: 'All', scopes: ['write'], expiresInDays: undefined, idempotencyKey: '' };
    const { value } = await team.edge.createToken(request, bob);
    const credentials = [
      { login },
      { bearer: value },
      { bearer: await team.provider.accessToken('bob') },
      { bearer: await team.provider.accessToken('bob', { format: 'opaque' }) },
    ];
    const userId = user?.userId ?? '';
    for (const one of credentials)
      expect((await other.edge.identify({ ...NOTHING, ...one })).user?.userId).toBe(userId);

    const { user: disabled } = await team.edge.setUserEnabled({ userId, enabled: false }, alice);
    expect(disabled).toMatchObject({ userId, enabled: false });
    for (const one of credentials) await refused(one);
    await expect(logIn(team, 'bob')).rejects.toMatchObject({ code: 'LOGIN_FAILED' });
    expect((await team.as('deployments').getUser({ userId })).user?.enabled).toBe(false);

    await team.edge.setUserEnabled({ userId, enabled: true }, alice);
    for (const one of credentials) await other.edge.identify({ ...NOTHING, ...one });
    await logIn(team, 'bob');
  });

  it('lose the role administrator at every replica after a change at the provider', async () => {
    team.provider.accounts.eve = { name: 'Eve', groups: ['operators'] };
    const { login } = await logIn(team, 'eve');
    const roles = async () => (await other.edge.identify({ ...NOTHING, login })).user?.roles;
    expect(await roles()).toEqual(['member', 'administrator']);
    team.provider.accounts.eve = { name: 'Eve', groups: ['others'] };
    await team.edge.identify({ ...NOTHING, bearer: await team.provider.accessToken('eve') });
    expect(await roles()).toEqual(['member']);
  });

  it('are enabled and disabled by other administrators only', async () => {
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
      const request = team.edge.setUserEnabled({ userId: protectedId, enabled: false }, alice);
      await expect(request).rejects.toMatchObject({ code: 'RESOURCE_IN_USE' });
    }
    for (const absent of [ABSENT, 'nobody', '']) {
      const request = team.edge.setUserEnabled({ userId: absent, enabled: false }, alice);
      await expect(request).rejects.toMatchObject({ code: 'USER_NOT_FOUND' });
    }
  });

  it('are found by name, e-mail address and id, newest first', async () => {
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

  it('of another provider are rejected', async () => {
    const { login } = await logIn(team, 'bob');
    await using moved = await openTeamUnderTest(transport, { databaseUrl: team.databaseUrl });
    await expect(moved.edge.identify({ ...NOTHING, login })).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  });
});
