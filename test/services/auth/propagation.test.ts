import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLocalBus } from '../../../lib/bus/local.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthUnderTest, NOTHING } from './system.ts';
import { callerWith, logIn, openAnother, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const TOKEN = { name: 'T', scopes: ['read'], expiresInDays: undefined, idempotencyKey: '' };

describe.each(TRANSPORTS)('ended credentials and changed users, %s', (transport) => {
  const hints: string[] = [];
  let clock: FakeClock;
  let team: TeamUnderTest;
  /** A replica that receives no change hints. */
  let replicaWithoutHints: AuthUnderTest;
  let alice: Awaited<ReturnType<typeof callerWith>>;

  beforeAll(async () => {
    clock = createFakeClock(new Date());
    const bus = createLocalBus();
    bus.subscribe('users.changed', () => hints.push('users.changed'));
    bus.subscribe('credentials.ended', () => hints.push('credentials.ended'));
    const awaitPropagation = async (cacheMs: number) => void hints.push(`propagated ${cacheMs}`);
    team = await openTeamUnderTest(transport, { clock, bus: { ...bus, awaitPropagation } });
    replicaWithoutHints = await openAnother(transport, team, { clock });
    alice = await callerWith(team, { login: (await logIn(team, 'alice')).login });
  });
  afterAll(async () => {
    await replicaWithoutHints[Symbol.asyncDispose]();
    await team[Symbol.asyncDispose]();
  });

  /** Ends a credential or user that is cached by the replica without hints. */
  async function expectDelayedEnd(
    credential: Partial<typeof NOTHING>,
    end: () => Promise<unknown>,
    hint: string,
  ) {
    const presented = { ...NOTHING, ...credential };
    await replicaWithoutHints.edge.identify(presented);
    hints.length = 0;
    await end();
    expect(hints).toEqual([hint, 'propagated 1000']);
    clock.advance(999);
    await replicaWithoutHints.edge.identify(presented);
    clock.advance(1);
    await expect(replicaWithoutHints.edge.identify(presented)).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
    });
  }

  it('the end of a login returns after the cache time of a replica without hints', async () => {
    const { login } = await logIn(team, 'bob');
    await expectDelayedEnd({ login }, () => team.edge.endLogin({ login }), 'credentials.ended');
  });

  it('the deletion of a token returns after the cache time of a replica without hints', async () => {
    const bob = await callerWith(team, { login: (await logIn(team, 'bob')).login });
    const { token, value } = await team.edge.createToken(TOKEN, bob);
    const end = () => team.edge.deleteToken({ tokenId: token?.tokenId ?? '' }, bob);
    await expectDelayedEnd({ bearer: value }, end, 'credentials.ended');
  });

  it('the disabling of a user returns after the cache time of a replica without hints', async () => {
    const { user } = await logIn(team, 'bob');
    const userId = user?.userId ?? '';
    const bearer = await team.provider.accessToken('bob');
    const end = () => team.edge.setUserEnabled({ userId, enabled: false }, alice);
    await expectDelayedEnd({ bearer }, end, 'users.changed');
    await team.edge.setUserEnabled({ userId, enabled: true }, alice);
  });

  it('a repeated end waits as well, because the first response may have been lost', async () => {
    const { login } = await logIn(team, 'bob');
    await team.edge.endLogin({ login });
    hints.length = 0;
    await team.edge.endLogin({ login });
    expect(hints).toEqual(['credentials.ended', 'propagated 1000']);
  });
});
