import { Writable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createLog } from '../../../lib/log.ts';
import { createMetrics } from '../../../lib/metrics.ts';
import { createRpcObserver } from '../../../services/bootstrap/rpc-observer.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { type Fault, HostileProvider, type SigningOptions } from '../../support/hostile-provider.ts';
import { AUDIENCE, CLIENT_ID } from '../../support/identity-provider.ts';
import { type AuthUnderTest, NOTHING, openAuthUnderTest } from './system.ts';
import { ORIGIN, settingsFor } from './team.ts';

const FAILED = { code: 'LOGIN_FAILED', message: 'The login could not be completed. Start again.' };
const now = () => Math.floor(Date.now() / 1_000);

describe('auth service with a hostile identity provider', () => {
  let database: TestDatabase;
  let stack: AsyncDisposableStack;
  let provider: HostileProvider;
  let auth: AuthUnderTest;
  let written = '';
  const secrets = new Set<string>();

  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database[Symbol.asyncDispose]());

  beforeEach(async () => {
    stack = new AsyncDisposableStack();
    provider = stack.use(await HostileProvider.open());
    written = '';
    secrets.clear();
    const destination = new Writable({
      write(chunk, _, done) {
        written += chunk;
        done();
      },
    });
    const log = createLog({ level: 'debug', destination });
    auth = stack.use(
      await openAuthUnderTest('in process', {
        publicUrl: ORIGIN,
        env: { ...settingsFor(provider.issuer), SERVICE_OIDC_INTROSPECTION: 'true' },
        databaseUrl: database.url,
        log,
        observe: createRpcObserver(createMetrics(), log),
      }),
    );
  });
  afterEach(async () => {
    for (const secret of [...secrets, ...provider.tokens]) expect(written).not.toContain(secret);
    await stack.disposeAsync();
  });

  async function begin() {
    const { authorizationUrl, attempt } = await auth.edge.beginLogin({ returnTo: '/' });
    const { state = '', nonce = '' } = Object.fromEntries(new URL(authorizationUrl).searchParams);
    secrets.add(attempt);
    secrets.add(nonce);
    return { attempt, state, nonce };
  }

  const claimsFor = (nonce: string) => ({
    iss: provider.issuer,
    sub: 'mallory',
    aud: CLIENT_ID,
    exp: now() + 300,
    iat: now(),
    nonce,
    name: 'Mallory',
    groups: [] as string[],
  });

  const back = (query: Record<string, string>) => {
    const text = new URLSearchParams({ code: 'the-code-of-mallory', ...query }).toString();
    secrets.add('the-code-of-mallory');
    return text;
  };

  /** Completes a login with an ID token with these claims. */
  async function logIn(
    change: (claims: ReturnType<typeof claimsFor>) => Record<string, unknown> = (claims) => claims,
    signing: SigningOptions = {},
    query: (state: string) => Record<string, string> = (state) => ({ state }),
  ) {
    const { attempt, state, nonce } = await begin();
    provider.idToken = await provider.sign(change(claimsFor(nonce)), signing);
    return auth.edge.finishLogin({ attempt, query: back(query(state)), login: '' });
  }

  it('completes a login with a valid ID token', async () => {
    const { user, login } = await logIn();
    expect(user?.displayName).toBe('Mallory');
    secrets.add(login);
    expect((await auth.edge.identify({ ...NOTHING, login })).user?.roles).toEqual(['member']);
  });

  it.each<[string, (claims: ReturnType<typeof claimsFor>) => Record<string, unknown>]>([
    ['another issuer', (claims) => ({ ...claims, iss: 'https://elsewhere.example.com' })],
    ['another audience', (claims) => ({ ...claims, aud: 'another-client' })],
    [
      'more audiences, and another party',
      (claims) => ({ ...claims, aud: [CLIENT_ID, 'other'], azp: 'other' }),
    ],
    ['another nonce', (claims) => ({ ...claims, nonce: 'another' })],
    ['no nonce', ({ nonce: _, ...claims }) => claims],
    ['an end in the past', (claims) => ({ ...claims, exp: now() - 120 })],
    ['no end', ({ exp: _, ...claims }) => claims],
    ['a beginning in the future', (claims) => ({ ...claims, nbf: now() + 600 })],
    ['no subject', ({ sub: _, ...claims }) => claims],
    ['an empty subject', (claims) => ({ ...claims, sub: '' })],
    ['a subject that is a number', (claims) => ({ ...claims, sub: 7 })],
    ['a very long subject', (claims) => ({ ...claims, sub: 'm'.repeat(256) })],
  ])('rejects an ID token with %s', async (_, change) => {
    await expect(logIn(change)).rejects.toMatchObject(FAILED);
  });

  it.each<[string, SigningOptions]>([
    ['no signature', { alg: 'none' }],
    ['the public key as a shared secret', { alg: 'HS256' }],
    ['another key under the same name', { otherKey: true }],
    ['an unpublished key', { otherKey: true, kid: 'unknown' }],
  ])('rejects an ID token signed with %s', async (_, signing) => {
    await expect(logIn(undefined, signing)).rejects.toMatchObject(FAILED);
  });

  it.each<[string, (state: string) => Record<string, string>]>([
    ['no state', () => ({})],
    ['another state', () => ({ state: 'another' })],
    ['an error', (state) => ({ state, error: 'access_denied', error_description: 'the-code-of-mallory' })],
    ['another issuer', (state) => ({ state, iss: 'https://elsewhere.example.com' })],
    ['a response of another kind', (state) => ({ state, response: 'a.b.c' })],
    ['a too long query', (state) => ({ state, code: 'c'.repeat(10_000) })],
  ])('rejects a callback with %s', async (_, query) => {
    await expect(logIn(undefined, {}, query)).rejects.toMatchObject(FAILED);
  });

  it('requires the issuer in the callback when the metadata promise it', async () => {
    provider.metadata = { authorization_response_iss_parameter_supported: true };
    await expect(logIn()).rejects.toMatchObject(FAILED);
    const { user } = await logIn(undefined, {}, (state) => ({ state, iss: provider.issuer }));
    expect(user?.displayName).toBe('Mallory');
  });

  it('rejects a second callback, after success and after failure', async () => {
    for (const isGood of [true, false]) {
      const { attempt, state, nonce } = await begin();
      provider.idToken = await provider.sign(claimsFor(isGood ? nonce : 'another'));
      const request = { attempt, query: back({ state }), login: '' };
      const first = auth.edge.finishLogin(request);
      if (isGood) secrets.add((await first).login);
      else await expect(first).rejects.toMatchObject(FAILED);
      provider.idToken = await provider.sign(claimsFor(nonce));
      await expect(auth.edge.finishLogin(request)).rejects.toMatchObject(FAILED);
    }
  });

  it('completes one login for two concurrent callbacks', async () => {
    const { attempt, state, nonce } = await begin();
    provider.idToken = await provider.sign(claimsFor(nonce));
    const request = { attempt, query: back({ state }), login: '' };
    const ends = await Promise.allSettled([1, 2, 3, 4].map(() => auth.edge.finishLogin(request)));
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('rejects the callback of another browser', async () => {
    const mine = await begin();
    const theirs = await begin();
    provider.idToken = await provider.sign(claimsFor(theirs.nonce));
    for (const attempt of [mine.attempt, '', 'none', 'A'.repeat(43)]) {
      const request = { attempt, query: back({ state: theirs.state }), login: '' };
      await expect(auth.edge.finishLogin(request)).rejects.toMatchObject(FAILED);
    }
    // The rejected callbacks have used up neither attempt.
    const request = { attempt: theirs.attempt, query: back({ state: theirs.state }), login: '' };
    expect((await auth.edge.finishLogin(request)).user?.displayName).toBe('Mallory');
  });

  const FAULTS: Fault[] = ['error', 'redirect', 'huge', 'garbage', 'page'];

  it.each(FAULTS)('rejects a login when the token endpoint returns: %s', async (fault) => {
    provider.faults.set('token', fault);
    await expect(logIn()).rejects.toMatchObject(FAILED);
    provider.faults.clear();
    expect((await logIn()).user?.displayName).toBe('Mallory');
  });

  it.each(FAULTS)('rejects a login when the key endpoint returns: %s', async (fault) => {
    provider.faults.set('keys', fault);
    await expect(logIn()).rejects.toMatchObject(FAILED);
    provider.faults.clear();
    expect((await logIn()).user?.displayName).toBe('Mallory');
  });

  it.each(FAULTS)('returns DEPENDENCY_UNAVAILABLE when the discovery endpoint returns: %s', async (fault) => {
    provider.faults.set('discovery', fault);
    const refused = { code: 'DEPENDENCY_UNAVAILABLE', message: 'The identity provider cannot be reached.' };
    await expect(auth.edge.beginLogin({ returnTo: '/' })).rejects.toMatchObject(refused);
    provider.faults.clear();
    expect((await logIn()).user?.displayName).toBe('Mallory');
  });

  it.each([
    ['another issuer', { issuer: 'https://elsewhere.example.com' }],
    ['an unencrypted key endpoint', { jwks_uri: 'http://elsewhere.example.com/keys' }],
    ['an invalid authorization endpoint', { authorization_endpoint: 'javascript:alert(1)' }],
  ])('starts no login when the metadata have %s', async (_, metadata) => {
    provider.metadata = metadata;
    await expect(auth.edge.beginLogin({ returnTo: '/' })).rejects.toMatchObject({
      code: 'DEPENDENCY_UNAVAILABLE',
    });
  });

  it('returns DEPENDENCY_UNAVAILABLE when the provider does not respond in time', async () => {
    provider.faults.set('token', 'slow');
    await expect(logIn()).rejects.toMatchObject(FAILED);
  });

  const access = () => ({
    iss: provider.issuer,
    sub: 'mallory',
    aud: AUDIENCE,
    exp: now() + 300,
    iat: now(),
    scope: 'agents:read',
  });
  const identify = (bearer: string) => auth.edge.identify({ bearer, login: '' });

  it('accepts a valid access token', async () => {
    for (const typ of ['at+jwt', 'application/at+jwt', 'JWT', undefined]) {
      const found = await identify(await provider.sign(access(), { typ }));
      expect(found).toMatchObject({ scopes: ['read'], credential: 'access_token' });
    }
  });

  it('keeps the groups with the latest issue time', async () => {
    const groupsOf = async (groups: string[] | undefined, age: number, more: object = {}) =>
      (await identify(await provider.sign({ ...access(), sub: 'nora', iat: now() - age, groups, ...more })))
        .user?.groups;
    expect(await groupsOf(['night'], 100)).toEqual(['night']);
    expect(await groupsOf(['day'], 80)).toEqual(['day']);
    expect(await groupsOf(['night'], 90)).toEqual(['day']);
    // Unchanged groups with a later issue time also replace the stored issue time.
    expect(await groupsOf(['day'], 60)).toEqual(['day']);
    expect(await groupsOf(['night'], 70)).toEqual(['day']);
    expect(await groupsOf(undefined, 40)).toEqual(['day']);
    expect(await groupsOf(['night'], 50)).toEqual(['night']);
    // An issue time in the future counts as the current time.
    expect(await groupsOf([], -1_000_000)).toEqual([]);
    expect(await groupsOf(['day'], -5)).toEqual(['day']);
    expect(await groupsOf(['night'], 0, { iat: undefined })).toEqual(['night']);
  });

  it.each<[string, (claims: ReturnType<typeof access>) => Record<string, unknown>, SigningOptions?]>([
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://elsewhere.example.com' })],
    ['for another audience', (claims) => ({ ...claims, aud: 'another' })],
    ['for no audience', ({ aud: _, ...claims }) => claims],
    ['without an end', ({ exp: _, ...claims }) => claims],
    ['without a subject', ({ sub: _, ...claims }) => claims],
    ['that is not yet valid', (claims) => ({ ...claims, nbf: now() + 600 })],
    ['that is an ID token', (claims) => ({ ...claims, nonce: 'n' })],
    ['that is an ID token by its claim', (claims) => ({ ...claims, typ: 'ID' })],
    ['that is bound to a key', (claims) => ({ ...claims, cnf: { jkt: 'thumbprint' } })],
    ['that is for a logout', (claims) => claims, { typ: 'logout+jwt' }],
    ['without a signature', (claims) => claims, { alg: 'none' }],
    ['signed with the public key', (claims) => claims, { alg: 'HS256' }],
    ['signed with another key', (claims) => claims, { otherKey: true }],
    ['signed with an unpublished key', (claims) => claims, { otherKey: true, kid: 'unknown' }],
  ])('rejects an access token %s', async (_, change, signing) => {
    const token = await provider.sign(change(access()), signing);
    await expect(identify(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it('returns TOKEN_EXPIRED for an expired access token', async () => {
    const token = await provider.sign({ ...access(), exp: now() - 120 });
    await expect(identify(token)).rejects.toMatchObject({ code: 'TOKEN_EXPIRED' });
    const forged = await provider.sign({ ...access(), exp: now() - 120 }, { otherKey: true });
    await expect(identify(forged)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
  });

  it.each(['a.b', 'a.b.c', 'a.b.c.d.e', '..', 'ü', ' ', 'ey.ey.ey\n'])(
    'rejects the malformed bearer token %j',
    async (bearer) => {
      for (const shown of [bearer, bearer.repeat(5_000)]) {
        await expect(identify(shown)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
      }
    },
  );

  it.each(FAULTS)(
    'returns DEPENDENCY_UNAVAILABLE, not UNAUTHENTICATED, when the key endpoint returns: %s',
    async (fault) => {
      provider.faults.set('keys', fault);
      const token = await provider.sign(access());
      await expect(identify(token)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
      provider.faults.clear();
      expect((await identify(token)).credential).toBe('access_token');
    },
  );

  it('loads the keys only once for many tokens with unknown keys', async () => {
    for (let count = 0; count < 20; count++) {
      const token = await provider.sign(access(), { otherKey: true, kid: `unknown-${count}` });
      await expect(identify(token)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    expect(provider.requestCounts.keys).toBeLessThan(20);
  });

  it('accepts an opaque token after introspection', async () => {
    provider.introspection = { ...access(), active: true, token_type: 'Bearer' };
    secrets.add('an-opaque-token');
    expect(await identify('an-opaque-token')).toMatchObject({ scopes: ['read'], credential: 'access_token' });
  });

  it.each<[string, Record<string, unknown>]>([
    ['is not active', { active: false }],
    ['has no member active', { active: undefined }],
    ['is for another audience', { aud: 'another' }],
    ['is for no audience', { aud: undefined }],
    ['has another issuer', { iss: 'https://elsewhere.example.com' }],
    ['has expired', { exp: 1 }],
    ['has no subject', { sub: undefined }],
    ['is bound to a key', { cnf: { jkt: 'thumbprint' } }],
    ['is of another type', { token_type: 'DPoP' }],
  ])('rejects an opaque token that %s', async (_, change) => {
    provider.introspection = { ...access(), active: true, ...change };
    secrets.add('an-opaque-token');
    await expect(identify('an-opaque-token')).rejects.toMatchObject({
      code: change.active === undefined && 'active' in change ? 'DEPENDENCY_UNAVAILABLE' : 'UNAUTHENTICATED',
    });
  });

  it.each(FAULTS)(
    'returns DEPENDENCY_UNAVAILABLE, not UNAUTHENTICATED, when introspection returns: %s',
    async (fault) => {
      provider.faults.set('introspection', fault);
      secrets.add('an-opaque-token');
      await expect(identify('an-opaque-token')).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });
    },
  );
});
