import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, NOTHING } from './open.ts';
import { callerWith, logIn, openAnother, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const TOKEN = { name: 'T', scopes: ['read'], expiresInDays: undefined, idempotencyKey: '' };

describe.each(TRANSPORTS)('what ends, %s', (transport) => {
  const told: string[] = [];
  let clock: FakeClock;
  let team: TeamUnderTest;
  /** No hint reaches it. */
  let deaf: AuthUnderTest;
  let alice: Awaited<ReturnType<typeof callerWith>>;

  beforeAll(async () => {
    clock = createFakeClock(new Date());
    const bus = createLocalBus();
    bus.subscribe('users.changed', () => told.push('users.changed'));
    bus.subscribe('credentials.ended', () => told.push('credentials.ended'));
    const settle = async (keptForMs: number) => void told.push(`settled ${keptForMs}`);
    team = await openTeamUnderTest(transport, { clock, bus: { ...bus, settle } });
    deaf = await openAnother(transport, team, { clock });
    alice = await callerWith(team, { login: (await logIn(team, 'alice')).login });
  });
  afterAll(async () => {
    await deaf[Symbol.asyncDispose]();
    await team[Symbol.asyncDispose]();
  });

  /** Ends something that a replica knows which hears of nothing. */
  async function ended(shown: Partial<typeof NOTHING>, end: () => Promise<unknown>, hint: string) {
    const known = { ...NOTHING, ...shown };
    await deaf.edge.identify(known);
    told.length = 0;
    await end();
    expect(told).toEqual([hint, 'settled 1000']);
    clock.advance(999);
    await deaf.edge.identify(known);
    clock.advance(1);
    await expect(deaf.edge.identify(known)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  }

  it('is believed for a second where nobody has told, and for so long its end waits: a login', async () => {
    const { login } = await logIn(team, 'bob');
    await ended({ login }, () => team.edge.endLogin({ login }), 'credentials.ended');
  });

  it('the same: a token', async () => {
    const bob = await callerWith(team, { login: (await logIn(team, 'bob')).login });
    const { token, value } = await team.edge.createToken(TOKEN, bob);
    const end = () => team.edge.deleteToken({ tokenId: token?.tokenId ?? '' }, bob);
    await ended({ bearer: value }, end, 'credentials.ended');
  });

  it('the same: a user', async () => {
    const { user } = await logIn(team, 'bob');
    const userId = user?.userId ?? '';
    const bearer = await team.provider.accessToken('bob');
    const end = () => team.edge.setUserEnabled({ userId, enabled: false }, alice);
    await ended({ bearer }, end, 'users.changed');
    await team.edge.setUserEnabled({ userId, enabled: true }, alice);
  });

  it('waits for that also when it has ended already, as the first answer may have been lost', async () => {
    const { login } = await logIn(team, 'bob');
    await team.edge.endLogin({ login });
    told.length = 0;
    await team.edge.endLogin({ login });
    expect(told).toEqual(['credentials.ended', 'settled 1000']);
  });
});
