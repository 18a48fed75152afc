import { afterEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { type AuthOptions, NOTHING } from './system.ts';
import { callerWith, logIn, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const DAY_MS = 24 * 60 * 60 * 1_000;
const TOKEN = { name: 'T', scopes: ['read'], expiresInDays: 1, idempotencyKey: '' };

describe.each(TRANSPORTS)('validity of an identity, %s', (transport) => {
  let clock: FakeClock;
  let team: TeamUnderTest;
  afterEach(() => team[Symbol.asyncDispose]());

  async function open(options: AuthOptions = {}) {
    clock = createFakeClock(new Date());
    team = await openTeamUnderTest(transport, { clock, ...options });
    const { login } = await logIn(team, 'bob');
    const bob = await callerWith(team, { login });
    const { value: bearer } = await team.edge.createToken(TOKEN, bob);
    return { login, bearer };
  }
  const validity = async (shown: Partial<typeof NOTHING>) =>
    (await team.edge.identify({ ...NOTHING, ...shown })).validForMs;

  it('ends one second after the oldest read of the credential and its user', async () => {
    const { login, bearer } = await open();
    clock.advance(1_000);
    expect(await validity({ login })).toBe(1_000);
    clock.advance(400);
    // The token is read now. Its user was read with the login.
    expect(await validity({ bearer })).toBe(600);
    clock.advance(599);
    expect(await validity({ login })).toBe(1);
    clock.advance(1);
    // The user is read again. The token was read 600 milliseconds ago.
    expect(await validity({ bearer })).toBe(400);
  });

  it('ends when a token expires', async () => {
    const { bearer } = await open();
    clock.advance(DAY_MS - 300);
    expect(await validity({ bearer })).toBe(300);
  });

  it('ends when a login has not been used for the idle time', async () => {
    const { login } = await open({ env: { SERVICE_LOGIN_IDLE_MINUTES: '5' } });
    clock.advance(5 * 60_000 - 250);
    expect(await validity({ login })).toBe(250);
  });

  it('ends when an access token of the identity provider expires', async () => {
    await open();
    const bearer = await team.provider.accessToken('bob');
    expect(await validity({ bearer })).toBe(1_000);
    const [, claims = ''] = bearer.split('.');
    const { exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    clock.advance(exp * 1_000 - 200 - clock.now().getTime());
    expect(await validity({ bearer })).toBe(200);
  });

  it('is absent when requests are counted', async () => {
    const { login } = await open({ env: { SERVICE_RATE_LIMIT_REQUESTS_PER_MINUTE: '100' } });
    expect(await validity({ login })).toBeUndefined();
  });
});
