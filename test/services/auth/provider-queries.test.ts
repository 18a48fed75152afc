import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLocalRateLimiter } from '../../../lib/bus/local-rate-limiter.ts';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { HostileProvider } from '../../support/hostile-provider.ts';
import { AUDIENCE } from '../../support/identity-provider.ts';
import { type AuthOptions, type AuthUnderTest, openAuthUnderTest } from './system.ts';
import { ORIGIN, settingsFor } from './team.ts';

const LIMIT = 'SERVICE_RATE_LIMIT_PROVIDER_QUERIES_PER_MINUTE';
const HERE = '203.0.113.7';
const ELSEWHERE = '203.0.113.8';
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const SIGNED = part({ alg: 'RS256', kid: 'the-key' });
const UNSIGNED = part({ alg: 'none' });
const CLAIMS = part({ sub: 'mallory' });

describe('queries to the identity provider for bearer tokens', () => {
  let database: TestDatabase;
  let stack: AsyncDisposableStack;
  let provider: HostileProvider;
  let clock: FakeClock;
  let auth: AuthUnderTest;

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());
  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    provider = stack.use(await HostileProvider.open());
    clock = createFakeClock(new Date());
    auth = await open();
  });
  afterEach(() => stack.disposeAsync());

  async function open({ env, ...options }: AuthOptions = {}): Promise<AuthUnderTest> {
    const settings = { ...settingsFor(provider.issuer), SERVICE_OIDC_INTROSPECTION: 'true', ...env };
    const shared = { publicUrl: ORIGIN, databaseUrl: database.url, clock };
    return stack.use(await openAuthUnderTest('in process', { ...shared, ...options, env: settings }));
  }

  const code = (bearer: string, address = HERE, { edge } = auth) =>
    edge.identify({ bearer, login: '', address }).then(
      () => 'OK',
      (error: { code: string }) => error.code,
    );
  let named = 0;
  const unknown = () => `unknown-${named++}`;
  const codes = async (count: number, bearer: () => string, address = HERE, service = auth) => {
    const found = new Set<string>();
    for (let time = 0; time < count; time++) found.add(await code(bearer(), address, service));
    return [...found];
  };
  const claims = () => {
    const now = Math.floor(Date.now() / 1_000);
    return {
      iss: provider.issuer,
      sub: 'mallory',
      aud: AUDIENCE,
      iat: now,
      exp: now + 900,
      scope: 'agents:read',
    };
  };
  const accept = () => {
    provider.introspection = { ...claims(), active: true, token_type: 'Bearer' };
  };
  const reject = () => {
    provider.introspection = { active: false };
  };
  const queries = () => {
    const { discovery, keys, introspection } = provider.requestCounts;
    return discovery + keys + introspection;
  };
  const breakProvider = () => {
    for (const endpoint of ['discovery', 'keys', 'introspection'] as const)
      provider.faults.set(endpoint, 'error');
  };

  it.each([
    ['one dot', `${SIGNED}.${CLAIMS}`],
    ['one dot and no signature', `${UNSIGNED}.${CLAIMS}`],
    ['an empty signature', `${UNSIGNED}.${CLAIMS}.`],
    ['an empty payload', `${SIGNED}..c2ln`],
    ['an empty header', `.${CLAIMS}.c2ln`],
    ['dots alone', '..'],
    ['an empty second part', 'abc.'],
    ['four parts', `${SIGNED}.${CLAIMS}.c2ln.c2ln`],
    ['five parts', `${part({ alg: 'RSA-OAEP', enc: 'A256GCM' })}.a2V5.aXY.dGV4dA.dGFn`],
    ['five short parts', 'a.b.c.d.e'],
    ['the algorithm none', `${UNSIGNED}.${CLAIMS}.c2ln`],
    ['a symmetric algorithm', `${part({ alg: 'HS256' })}.${CLAIMS}.c2ln`],
    ['a header that is no object', `${part('RS256')}.${CLAIMS}.c2ln`],
    ['a header that is no JSON', `a.${CLAIMS}.c`],
    ['a payload that is no object', `${SIGNED}.${part(7)}.c2ln`],
    ['characters that are not base64url', `${SIGNED}.${CLAIMS}.c2ln+/==`],
  ])(
    'are not sent for a token with %s, which is UNAUTHENTICATED while the provider is away',
    async (_, token) => {
      breakProvider();
      expect(await code(token)).toBe('UNAUTHENTICATED');
      expect(queries()).toBe(0);
    },
  );

  it('are sent for an opaque token with one dot, which is UNAUTHENTICATED while the provider is away', async () => {
    breakProvider();
    expect(await code('opaque.token')).toBe('UNAUTHENTICATED');
    provider.faults.clear();
    accept();
    expect(await code('opaque.token')).toBe('OK');
    breakProvider();
    clock.advance(2_000);
    expect(await code('opaque.token')).toBe('DEPENDENCY_UNAVAILABLE');
  });

  it('are at most 60 in any minute and per address by default', async () => {
    expect(await codes(150, unknown)).toEqual(['UNAUTHENTICATED']);
    expect(queries()).toBe(60);
    expect(await code(unknown(), ELSEWHERE)).toBe('UNAUTHENTICATED');
    expect(queries()).toBe(61);
    clock.advance(59_999);
    await codes(10, unknown);
    expect(queries()).toBe(61);
    clock.advance(1);
    expect(await codes(100, unknown)).toEqual(['UNAUTHENTICATED']);
    expect(queries()).toBe(121);
  });

  it('are counted for metadata, keys and introspection together', async () => {
    auth = await open({ env: { [LIMIT]: '3' } });
    const forged = await provider.sign(claims(), { otherKey: true, kid: 'unknown' });
    expect([await code(forged), ...(await codes(5, unknown))]).toEqual([
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
    ]);
    expect(provider.requestCounts).toMatchObject({ discovery: 1, keys: 1, introspection: 1 });
  });

  it('are limited while the provider is away, also for signed tokens', async () => {
    auth = await open({ env: { [LIMIT]: '3' } });
    breakProvider();
    const tokens = await Promise.all(
      Array.from({ length: 6 }, (_, index) => provider.sign({ ...claims(), index })),
    );
    const found: string[] = [];
    for (const token of tokens) found.push(await code(token));
    const away = Array(3).fill('DEPENDENCY_UNAVAILABLE');
    expect(found).toEqual([...away, ...Array(3).fill('UNAUTHENTICATED')]);
    expect(queries()).toBe(3);
    // The rejection for lack of a query is not cached.
    provider.faults.clear();
    expect(await code(tokens[5] ?? '', ELSEWHERE)).toBe('OK');
  });

  it('are counted per IPv6 /64 network and over all replicas', async () => {
    const shared = { rateLimiter: createLocalRateLimiter(clock), env: { [LIMIT]: '4' } };
    const [one, other] = [await open(shared), await open(shared)];
    // Each replica loads the metadata with its first query.
    await codes(3, unknown, '2001:db8:1:2::1', one);
    await codes(3, unknown, '2001:db8:1:2:ffff::1', other);
    expect(queries()).toBe(4);
    await code(unknown(), '2001:db8:1:3::1', one);
    expect(queries()).toBe(5);
  });

  it('are unlimited when the limit is 0', async () => {
    auth = await open({ env: { [LIMIT]: '0' } });
    await codes(100, unknown);
    expect(provider.requestCounts.introspection).toBe(100);
  });

  it('are not repeated for a rejected token for 60 seconds', async () => {
    const forged = await provider.sign(claims(), { otherKey: true });
    for (const token of ['unknown', forged]) await codes(20, () => token);
    const sent = queries();
    expect(provider.requestCounts.introspection).toBe(1);
    accept();
    clock.advance(59_999);
    expect(await code('unknown')).toBe('UNAUTHENTICATED');
    expect(queries()).toBe(sent);
    clock.advance(1);
    expect(await code('unknown')).toBe('OK');
  });

  it('are not limited for a token that was verified before, until it is rejected', async () => {
    auth = await open({ env: { [LIMIT]: '3' } });
    accept();
    expect(await code('known')).toBe('OK');
    reject();
    await codes(10, unknown);
    accept();
    for (let time = 0; time < 5; time++) {
      clock.advance(2_000);
      expect(await code('known')).toBe('OK');
    }
    reject();
    clock.advance(2_000);
    expect(await code('known')).toBe('UNAUTHENTICATED');
    expect(provider.requestCounts.introspection).toBe(8);
  });

  it('are not limited for the check of a long-lived response', async () => {
    auth = await open({ env: { [LIMIT]: '3' } });
    await codes(10, unknown);
    accept();
    const again = { bearer: 'verified-by-another-process', login: '', address: HERE, again: true };
    expect(await auth.edge.identify(again)).toMatchObject({ credential: 'access_token' });
  });

  it('are not needed for new JWTs with known keys, whose first loads concurrent tokens share', async () => {
    auth = await open({ env: { [LIMIT]: '2' } });
    const sign = (index: number) => provider.sign({ ...claims(), index });
    const tokens = await Promise.all(Array.from({ length: 20 }, (_, index) => sign(index)));
    expect(new Set(await Promise.all(tokens.map((token) => code(token))))).toEqual(new Set(['OK']));
    expect(await codes(5, unknown)).toEqual(['UNAUTHENTICATED']);
    expect(await code(await sign(20))).toBe('OK');
    expect(queries()).toBe(2);
  });

  it('reject a token that the provider refuses to introspect', async () => {
    provider.faults.set('introspection', 'unsupported token');
    expect(await code('unsupported')).toBe('UNAUTHENTICATED');
    provider.faults.set('introspection', 'invalid client');
    expect(await code('opaque')).toBe('DEPENDENCY_UNAVAILABLE');
  });
});
