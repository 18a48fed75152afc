import { afterEach, describe, expect, it } from 'vitest';
import { createLocalRateLimiter } from '../../../lib/bus/local-rate-limiter.ts';
import { newTokenValue } from '../../../services/auth/token-value.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, NOTHING, openAuthUnderTest } from './system.ts';
import { logIn, openAnother, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const REQUESTS = 'SERVICE_RATE_LIMIT_REQUESTS_PER_MINUTE';
const LOGINS = 'SERVICE_RATE_LIMIT_LOGINS_PER_MINUTE';
const HERE = '203.0.113.7';
const ELSEWHERE = '203.0.113.8';

describe.each(TRANSPORTS)('rate limits of the auth service, %s', (transport) => {
  const clock = createFakeClock(new Date());
  let team: TeamUnderTest;
  let other: AuthUnderTest;
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });

  /** Two replicas with one rate limiter. */
  async function start(env: Record<string, string>): Promise<void> {
    const shared = { clock, env, rateLimiter: createLocalRateLimiter(clock) };
    team = await openTeamUnderTest(transport, shared);
    open.push(team);
    other = await openAnother(transport, team, shared);
    open.push(other);
  }

  const code = (work: Promise<unknown>) =>
    work.then(
      () => 'OK',
      (error: { code: string }) => error.code,
    );
  const times = async (count: number, ask: () => Promise<unknown>) => {
    const codes: string[] = [];
    for (let time = 0; time < count; time++) codes.push(await code(ask()));
    return codes;
  };
  const invented = (edge = team.edge, address = HERE) =>
    edge.identify({ bearer: newTokenValue(), login: '', address });

  describe('requests per user', () => {
    it('count across replicas and credentials, and return the exact Retry-After', async () => {
      await start({ [REQUESTS]: '6' });
      const [{ login }, { login: second }] = [await logIn(team, 'bob'), await logIn(team, 'bob')];
      const codes = [
        ...(await times(2, () => team.edge.identify({ ...NOTHING, login }))),
        ...(await times(2, () => other.edge.identify({ ...NOTHING, login: second }))),
        ...(await times(2, () => team.edge.identify({ ...NOTHING, login: second }))),
      ];
      expect(codes).toEqual(Array(6).fill('OK'));
      for (const edge of [team.edge, other.edge])
        await expect(edge.identify({ ...NOTHING, login })).rejects.toMatchObject({
          code: 'RATE_LIMITED',
          retryAfterSeconds: 10,
        });
      clock.advance(9_999);
      expect(await code(other.edge.identify({ ...NOTHING, login }))).toBe('RATE_LIMITED');
      clock.advance(1);
      expect(await times(2, () => other.edge.identify({ ...NOTHING, login }))).toEqual([
        'OK',
        'RATE_LIMITED',
      ]);
    });

    it('do not affect other users', async () => {
      await start({ [REQUESTS]: '2' });
      const [{ login: bobs }, { login: roots }] = [await logIn(team, 'bob'), await logIn(team, 'root')];
      expect(await times(3, () => team.edge.identify({ ...NOTHING, login: bobs }))).toContain('RATE_LIMITED');
      expect(await code(team.edge.identify({ ...NOTHING, login: roots }))).toBe('OK');
      expect(await times(5, () => invented())).toEqual(Array(5).fill('UNAUTHENTICATED'));
    });

    it('do not count checks of long-lived responses', async () => {
      await start({ [REQUESTS]: '2' });
      const { login } = await logIn(team, 'bob');
      const again = { ...NOTHING, login, again: true };
      expect(await times(10, () => team.edge.identify(again))).toEqual(Array(10).fill('OK'));
      expect(await times(3, () => team.edge.identify({ ...NOTHING, login }))).toEqual([
        'OK',
        'OK',
        'RATE_LIMITED',
      ]);
      expect(await code(team.edge.identify(again))).toBe('OK');
    });

    it('apply in local mode', async () => {
      const local = await openAuthUnderTest(transport, { clock, env: { [REQUESTS]: '1' } });
      open.push(local);
      expect(await times(2, () => local.edge.identify(NOTHING))).toEqual(['OK', 'RATE_LIMITED']);
    });
  });

  describe('logins and rejected credentials per address', () => {
    it('count unknown tokens across replicas', async () => {
      await start({ [LOGINS]: '4' });
      expect(await times(2, () => invented(team.edge))).toEqual(Array(2).fill('UNAUTHENTICATED'));
      expect(await times(2, () => invented(other.edge))).toEqual(Array(2).fill('UNAUTHENTICATED'));
      for (const edge of [team.edge, other.edge, team.edge, other.edge])
        await expect(invented(edge)).rejects.toMatchObject({ code: 'RATE_LIMITED', retryAfterSeconds: 15 });
      expect(await code(invented(team.edge, ELSEWHERE))).toBe('UNAUTHENTICATED');
      clock.advance(14_999);
      expect(await code(invented())).toBe('RATE_LIMITED');
      clock.advance(1);
      expect(await times(2, () => invented())).toEqual(['UNAUTHENTICATED', 'RATE_LIMITED']);
    });

    it('count every kind of rejected credential, and no missing credential', async () => {
      await start({ [LOGINS]: '3' });
      expect(await times(9, () => team.edge.identify({ ...NOTHING, address: HERE }))).not.toContain(
        'RATE_LIMITED',
      );
      const credentials = [
        { bearer: 'ahs_mistyped' },
        { bearer: await team.provider.accessToken('bob', { format: 'opaque' }) },
        { login: 'L'.repeat(43) },
      ];
      for (const one of credentials)
        expect(await code(team.edge.identify({ ...NOTHING, address: HERE, ...one }))).toBe('UNAUTHENTICATED');
      expect(await code(invented())).toBe('RATE_LIMITED');
      expect(await code(team.edge.identify({ ...NOTHING, address: HERE }))).toBe('UNAUTHENTICATED');
    });

    it('count per IPv6 /64 network', async () => {
      await start({ [LOGINS]: '2' });
      expect(await code(invented(team.edge, '2001:db8:1:2::1'))).toBe('UNAUTHENTICATED');
      expect(await code(invented(team.edge, '2001:db8:1:2:ffff::1'))).toBe('UNAUTHENTICATED');
      expect(await code(invented(team.edge, '2001:db8:1:2:1::'))).toBe('RATE_LIMITED');
      expect(await code(invented(team.edge, '2001:db8:1:3::1'))).toBe('UNAUTHENTICATED');
    });

    it('do not affect credentials that were valid a moment ago', async () => {
      await start({ [LOGINS]: '3' });
      const { login } = await logIn(team, 'bob');
      const mine = { ...NOTHING, login, address: HERE };
      expect(await code(team.edge.identify(mine))).toBe('OK');
      expect(await times(5, () => invented())).toContain('RATE_LIMITED');
      clock.advance(2_000);
      expect(await code(team.edge.identify(mine))).toBe('OK');
      await team.edge.endLogin({ login });
      expect(await times(2, () => team.edge.identify(mine))).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
    });

    it('count started and failed logins', async () => {
      await start({ [LOGINS]: '2' });
      const begin = (address: string) => team.edge.beginLogin({ returnTo: '/', address });
      const finish = (address: string) =>
        team.edge.finishLogin({ attempt: '', query: 'state=x', login: '', address });
      expect([await code(begin(HERE)), await code(finish(HERE))]).toEqual(['OK', 'LOGIN_FAILED']);
      expect([await code(begin(HERE)), await code(finish(HERE))]).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
      expect(await code(begin(ELSEWHERE))).toBe('OK');
    });
  });

  it('are off by default', async () => {
    await start({});
    const { login } = await logIn(team, 'bob');
    expect(await times(50, () => team.edge.identify({ ...NOTHING, login }))).toEqual(Array(50).fill('OK'));
    expect(await times(50, () => invented())).toEqual(Array(50).fill('UNAUTHENTICATED'));
  });
});
