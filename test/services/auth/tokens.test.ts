import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreateTokenRequest } from '../../../proto/gen/ahs/auth/v1/auth.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { rowsOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { LOCAL, openAuthUnderTest } from './system.ts';
import { callerWith, logIn, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;

function tokenRequest(overrides: Partial<CreateTokenRequest> = {}): CreateTokenRequest {
  return { name: 'Nightly', scopes: ['read'], expiresInDays: undefined, idempotencyKey: '', ...overrides };
}

describe.each(TRANSPORTS)('personal access tokens, %s', (transport) => {
  let team: TeamUnderTest;
  let clock: FakeClock;
  let alice: Awaited<ReturnType<typeof callerWith>>;
  let bob: Awaited<ReturnType<typeof callerWith>>;

  beforeAll(async () => {
    clock = createFakeClock(new Date());
    team = await openTeamUnderTest(transport, { clock });
    alice = await callerWith(team, { login: (await logIn(team, 'alice')).login });
    bob = await callerWith(team, { login: (await logIn(team, 'bob')).login });
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const who = (bearer: string) => team.edge.identify({ bearer, login: '' });

  it('return their value once, and identify their owner with their scopes', async () => {
    const { token, value, replayed } = await team.edge.createToken(
      tokenRequest({ scopes: ['write', 'write'], expiresInDays: 7 }),
      alice,
    );
    expect(value).toMatch(/^ahs_[0-9A-Za-z]{46}$/);
    expect(token).toEqual({
      tokenId: expect.stringMatching(/^tok_/),
      name: 'Nightly',
      scopes: ['write'],
      hint: value.slice(-4),
      createdAt: clock.now(),
      expiresAt: new Date(clock.now().getTime() + 7 * DAY_MS),
      lastUsedAt: undefined,
    });
    expect(replayed).toBe(false);
    const { user, scopes, credential } = await who(value);
    expect({ name: user?.displayName, roles: user?.roles, scopes }).toEqual({
      name: 'Alice',
      roles: ['member'],
      scopes: ['read', 'write'],
    });
    expect(credential).toBe(token?.tokenId);
    const { tokens } = await team.edge.listTokens({ page: undefined }, alice);
    expect(JSON.stringify(tokens)).not.toContain(value);
    const rows = await rowsOn(
      team.databaseUrl,
      'select tokens::text as token, k::text from auth.tokens full join auth.idempotency_keys k on true',
    );
    expect(JSON.stringify(rows)).not.toContain(value.slice(4, 44));
  });

  it('keep their other scopes when they were stored with a scope that does not exist', async () => {
    const setScopes = (tokenId: string, scopes: string[]) =>
      rowsOn(
        team.databaseUrl,
        `update auth.tokens set scopes = '{${scopes.join()}}' where token_id = '${tokenId}' returning token_id`,
      );
    const mixed = await team.edge.createToken(tokenRequest({ name: 'Mixed' }), alice);
    const only = await team.edge.createToken(tokenRequest({ name: 'Only' }), alice);
    await setScopes(mixed.token?.tokenId ?? '', ['write', 'obsolete']);
    await setScopes(only.token?.tokenId ?? '', ['obsolete']);
    expect((await who(mixed.value)).scopes).toEqual(['read', 'write']);
    expect((await who(only.value)).scopes).toEqual([]);
    const { tokens } = await team.edge.listTokens({ page: undefined }, alice);
    expect(tokens.find(({ name }) => name === 'Mixed')?.scopes).toEqual(['write']);
    expect(tokens.find(({ name }) => name === 'Only')?.scopes).toEqual([]);
  });

  it('reject a scope that does not exist', async () => {
    const creation = team.edge.createToken(tokenRequest({ scopes: ['read', 'obsolete'] }), alice);
    await expect(creation).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      details: [{ pointer: '/scopes/1' }],
    });
  });

  it('are rejected without a lookup when the checksum is wrong', async () => {
    const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
    const { value } = await team.edge.createToken(tokenRequest(), bob);
    let check = 0;
    for (const digit of value.slice(44)) check = check * 62 + digits.indexOf(digit);
    expect(check).toBe(crc32(value.slice(4, 44)));
    for (const wrong of [
      `${value.slice(0, -1)}${value.endsWith('a') ? 'b' : 'a'}`,
      `${value}0`,
      'ahs_',
      value.toLowerCase(),
    ]) {
      await expect(who(wrong)).rejects.toMatchObject({
        code: 'UNAUTHENTICATED',
        message: 'The bearer token is malformed.',
      });
    }
  });

  it('have administrator rights only with the scope admin, which only administrators can use', async () => {
    const admin = tokenRequest({ scopes: ['admin'] });
    await expect(team.edge.createToken(admin, bob)).rejects.toMatchObject({ code: 'FORBIDDEN' });
    const { value } = await team.edge.createToken(admin, alice);
    const { user, scopes } = await who(value);
    expect({ roles: user?.roles, scopes }).toEqual({ roles: ['member', 'administrator'], scopes: ['admin'] });
  });

  it('cannot manage tokens, and neither can access tokens', async () => {
    const { value } = await team.edge.createToken(tokenRequest({ scopes: ['write', 'admin'] }), alice);
    const access = await team.provider.accessToken('alice');
    for (const bearer of [value, access]) {
      const caller = await callerWith(team, { bearer });
      for (const refused of [
        team.edge.createToken(tokenRequest(), caller),
        team.edge.listTokens({ page: undefined }, caller),
        team.edge.deleteToken({ tokenId: caller.caller.credential ?? '' }, caller),
      ]) {
        await expect(refused).rejects.toMatchObject({ code: 'FORBIDDEN' });
      }
    }
  });

  it('are rejected after their deletion', async () => {
    const { token, value } = await team.edge.createToken(tokenRequest(), bob);
    await who(value);
    const tokenId = token?.tokenId ?? '';
    await expect(team.edge.deleteToken({ tokenId }, alice)).rejects.toMatchObject({
      code: 'TOKEN_NOT_FOUND',
    });
    await team.edge.deleteToken({ tokenId }, bob);
    await expect(who(value)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    for (const absent of [tokenId, 'tok_7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 'nothing', '']) {
      await expect(team.edge.deleteToken({ tokenId: absent }, bob)).rejects.toMatchObject({
        code: 'TOKEN_NOT_FOUND',
      });
    }
  });

  it('return TOKEN_EXPIRED after their expiry, and can still be deleted', async () => {
    const { token, value } = await team.edge.createToken(tokenRequest({ expiresInDays: 1 }), bob);
    clock.advance(DAY_MS - 1);
    await who(value);
    clock.advance(1);
    await expect(who(value)).rejects.toMatchObject({ code: 'TOKEN_EXPIRED' });
    const { tokens } = await team.edge.listTokens({ page: undefined }, bob);
    expect(tokens.map(({ tokenId }) => tokenId)).toContain(token?.tokenId);
  });

  it('have the time of their last use, accurate to a minute', async () => {
    const { token, value } = await team.edge.createToken(tokenRequest(), bob);
    const used = async () => {
      const { tokens } = await team.edge.listTokens({ page: undefined }, bob);
      return tokens.find(({ tokenId }) => tokenId === token?.tokenId)?.lastUsedAt?.getTime();
    };
    const at = clock.now().getTime();
    await who(value);
    clock.advance(1_000);
    expect(await until('the last use is stored', used)).toBe(at);
    clock.advance(30_000);
    await who(value);
    clock.advance(1_000);
    clock.advance(60_000);
    const later = clock.now().getTime();
    await who(value);
    clock.advance(1_000);
    await until('the new time is stored', async () => (await used()) === later);
  });

  it('are created once per Idempotency-Key, and the replay has no value', async () => {
    const request = tokenRequest({ idempotencyKey: 'once' });
    const first = await team.edge.createToken(request, bob);
    const second = await team.edge.createToken(request, bob);
    expect(second).toEqual({ token: first.token, value: '', replayed: true });
    const other = team.edge.createToken({ ...request, name: 'Other' }, bob);
    await expect(other).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_CONFLICT' });
  });

  it('are listed newest first, page by page', async () => {
    const carol = { caller: { ...bob.caller, userId: alice.caller.userId } };
    const { tokens: all } = await team.edge.listTokens({ page: { limit: 100, cursor: '' } }, carol);
    for (let count = 0; count < 3; count++) await team.edge.createToken(tokenRequest(), carol);
    const ids: string[] = [];
    let cursor = '';
    do {
      const { tokens, page } = await team.edge.listTokens({ page: { limit: 2, cursor } }, carol);
      ids.push(...tokens.map(({ tokenId }) => tokenId));
      cursor = page?.nextCursor ?? '';
    } while (cursor !== '');
    expect(ids).toHaveLength(all.length + 3);
    expect(ids).toEqual(ids.toSorted().reverse());
    const first = await team.edge.listTokens({ page: { limit: 1, cursor: '' } }, carol);
    const stolen = { limit: 1, cursor: first.page?.nextCursor ?? '' };
    await expect(team.edge.listTokens({ page: stolen }, bob)).rejects.toMatchObject({
      code: 'INVALID_CURSOR',
    });
  });

  it.each<[string, Partial<CreateTokenRequest>, string]>([
    ['/name', { name: '' }, 'INVALID_REQUEST'],
    ['/name', { name: ' ' }, 'INVALID_REQUEST'],
    ['/name', { name: 'n'.repeat(101) }, 'INVALID_REQUEST'],
    ['/name', { name: 'a\0b' }, 'INVALID_TEXT'],
    ['/scopes', { scopes: [] }, 'INVALID_REQUEST'],
    ['/scopes/1', { scopes: ['read', 'root'] }, 'INVALID_REQUEST'],
    ['/expires_in_days', { expiresInDays: 0 }, 'INVALID_REQUEST'],
    ['/expires_in_days', { expiresInDays: 3_651 }, 'INVALID_REQUEST'],
  ])('are rejected with the pointer %s for %j', async (pointer, request, code) => {
    const refused = team.edge.createToken(tokenRequest(request), bob);
    await expect(refused).rejects.toMatchObject({ code, details: [{ pointer }] });
  });

  it('can be created in local mode, and are rejected in team mode', async () => {
    await using local = await openAuthUnderTest(transport, { databaseUrl: team.databaseUrl });
    const { value } = await local.edge.createToken(tokenRequest({ scopes: ['admin'] }), LOCAL);
    await expect(who(value)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });
});
