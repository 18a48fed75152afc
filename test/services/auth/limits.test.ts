import { afterEach, describe, expect, it } from 'vitest';
import { createLocalCounters } from '../../../lib/bus/local-counters.ts';
import { newTokenValue } from '../../../services/auth/token-value.ts';
import { createFakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, NOTHING, openAuthUnderTest } from './open.ts';
import { logIn, openAnother, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const REQUESTS = 'SERVICE_RATE_LIMIT_REQUESTS_PER_MINUTE';
const LOGINS = 'SERVICE_RATE_LIMIT_LOGINS_PER_MINUTE';
const HERE = '203.0.113.7';
const ELSEWHERE = '203.0.113.8';

describe.each(TRANSPORTS)('limits, %s', (transport) => {
  const clock = createFakeClock(new Date());
  let team: TeamUnderTest;
  let other: AuthUnderTest;
  const open: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
  });

  /** Two replicas that count together. */
  async function start(env: Record<string, string>): Promise<void> {
    const shared = { clock, env, counters: createLocalCounters(clock) };
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

  describe('of the requests of a user', () => {
    it('hold for all replicas together and for all that a user carries, and say exactly when to come back', async () => {
      await start({ [REQUESTS]: '6' });
      const [{ login }, { login: second }] = [await logIn(team, 'bob'), await logIn(team, 'bob')];
      const asked = [
        ...(await times(2, () => team.edge.identify({ ...NOTHING, login }))),
        ...(await times(2, () => other.edge.identify({ ...NOTHING, login: second }))),
        ...(await times(2, () => team.edge.identify({ ...NOTHING, login: second }))),
      ];
      expect(asked).toEqual(Array(6).fill('OK'));
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

    it('are nobody else’s, and nobody is asked who they are for nothing', async () => {
      await start({ [REQUESTS]: '2' });
      const [{ login: bobs }, { login: roots }] = [await logIn(team, 'bob'), await logIn(team, 'root')];
      expect(await times(3, () => team.edge.identify({ ...NOTHING, login: bobs }))).toContain('RATE_LIMITED');
      expect(await code(team.edge.identify({ ...NOTHING, login: roots }))).toBe('OK');
      expect(await times(5, () => invented())).toEqual(Array(5).fill('UNAUTHENTICATED'));
    });

    it('do not count what goes on', async () => {
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

    it('hold in local mode, too', async () => {
      const local = await openAuthUnderTest(transport, { clock, env: { [REQUESTS]: '1' } });
      open.push(local);
      expect(await times(2, () => local.edge.identify(NOTHING))).toEqual(['OK', 'RATE_LIMITED']);
    });
  });

  describe('of logins from one address', () => {
    it('hold for tokens that nobody has made, at all replicas together', async () => {
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

    it('count every kind of credential that lets nobody in, and none that is missing', async () => {
      await start({ [LOGINS]: '3' });
      expect(await times(9, () => team.edge.identify({ ...NOTHING, address: HERE }))).not.toContain(
        'RATE_LIMITED',
      );
      const shown = [
        { bearer: 'ahs_mistyped' },
        { bearer: await team.provider.accessToken('bob', { format: 'opaque' }) },
        { login: 'L'.repeat(43) },
      ];
      for (const one of shown)
        expect(await code(team.edge.identify({ ...NOTHING, address: HERE, ...one }))).toBe('UNAUTHENTICATED');
      expect(await code(invented())).toBe('RATE_LIMITED');
      expect(await code(team.edge.identify({ ...NOTHING, address: HERE }))).toBe('UNAUTHENTICATED');
    });

    it('hold for a network of IPv6 that one subscriber has', async () => {
      await start({ [LOGINS]: '2' });
      expect(await code(invented(team.edge, '2001:db8:1:2::1'))).toBe('UNAUTHENTICATED');
      expect(await code(invented(team.edge, '2001:db8:1:2:ffff::1'))).toBe('UNAUTHENTICATED');
      expect(await code(invented(team.edge, '2001:db8:1:2:1::'))).toBe('RATE_LIMITED');
      expect(await code(invented(team.edge, '2001:db8:1:3::1'))).toBe('UNAUTHENTICATED');
    });

    it('hold back nobody whose credential was good a moment ago', async () => {
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

    it('hold for logins that begin, and for those that fail', async () => {
      await start({ [LOGINS]: '2' });
      const begin = (address: string) => team.edge.beginLogin({ returnTo: '/', address });
      const finish = (address: string) =>
        team.edge.finishLogin({ attempt: '', query: 'state=x', login: '', address });
      expect([await code(begin(HERE)), await code(finish(HERE))]).toEqual(['OK', 'LOGIN_FAILED']);
      expect([await code(begin(HERE)), await code(finish(HERE))]).toEqual(['RATE_LIMITED', 'RATE_LIMITED']);
      expect(await code(begin(ELSEWHERE))).toBe('OK');
    });
  });

  it('are off unless they are set', async () => {
    await start({});
    const { login } = await logIn(team, 'bob');
    expect(await times(50, () => team.edge.identify({ ...NOTHING, login }))).toEqual(Array(50).fill('OK'));
    expect(await times(50, () => invented())).toEqual(Array(50).fill('UNAUTHENTICATED'));
  });
});
