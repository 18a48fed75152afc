import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeClock, type FakeClock } from '../../support/clock.ts';
import { TRANSPORTS } from '../../support/context.ts';
import { AUDIENCE } from '../../support/identity-provider.ts';
import type { AuthOptions } from './system.ts';
import { callerWith, logIn, openTeamUnderTest, type TeamUnderTest } from './team.ts';

const RESOURCE = 'https://agents.example.com/api/v1/mcp';
const OTHER = 'https://agents.example.com/mcp';
const HERE = '203.0.113.7';

describe.each(TRANSPORTS)('Identify RPC with a resource, %s', (transport) => {
  let team: TeamUnderTest;
  let clock: FakeClock;

  async function open(env: AuthOptions['env'] = {}): Promise<void> {
    clock = createFakeClock(new Date());
    const settings = { SERVICE_OIDC_INTROSPECTION: 'true', ...env };
    team = await openTeamUnderTest(transport, { clock, env: settings });
  }
  beforeEach(() => open());
  afterEach(() => team[Symbol.asyncDispose]());

  const code = (bearer: string, resource?: string) =>
    team.edge.identify({ bearer, login: '', resource, address: HERE }).then(
      ({ credential }) => credential,
      (error: { code: string }) => error.code,
    );
  const token = (audience: string, format: 'jwt' | 'opaque' = 'jwt', subject = 'alice') =>
    team.provider.accessToken(subject, { audience, format, scope: 'agents:mcp' });

  describe.each(['jwt', 'opaque'] as const)('and an access token, %s', (format) => {
    it('accepts the audience of the resource or the configured one, and no other', async () => {
      expect(await code(await token(RESOURCE, format), RESOURCE)).toBe('access_token');
      expect(await code(await token(AUDIENCE, format), RESOURCE)).toBe('access_token');
      expect(await code(await token('https://elsewhere.example.com', format), RESOURCE)).toBe(
        'UNAUTHENTICATED',
      );
    });

    it.each([
      ['another resource', OTHER],
      ['no resource', undefined],
      ['an empty resource', ''],
      ['the resource with a slash', `${RESOURCE}/`],
      ['a resource below it', `${RESOURCE}/agents/agt_1`],
    ])('does not count for %s after it was accepted for its own', async (_, resource) => {
      const bearer = await token(RESOURCE, format);
      expect(await code(bearer, RESOURCE)).toBe('access_token');
      expect(await code(bearer, resource)).toBe('UNAUTHENTICATED');
      expect(await code(bearer, RESOURCE)).toBe('access_token');
    });

    it('counts for its resource after it was rejected for another one', async () => {
      const bearer = await token(RESOURCE, format);
      for (const resource of [OTHER, undefined]) expect(await code(bearer, resource)).toBe('UNAUTHENTICATED');
      expect(await code(bearer, RESOURCE)).toBe('access_token');
      expect(await code(bearer, OTHER)).toBe('UNAUTHENTICATED');
    });

    it('decides concurrent requests for different resources by their own resource', async () => {
      const bearer = await token(RESOURCE, format);
      const resources = [OTHER, RESOURCE, undefined, RESOURCE, OTHER];
      expect(await Promise.all(resources.map((resource) => code(bearer, resource)))).toEqual(
        resources.map((resource) => (resource === RESOURCE ? 'access_token' : 'UNAUTHENTICATED')),
      );
    });

    it('does not create the user of a token for another resource', async () => {
      team.provider.accounts.eve = { name: 'Eve' };
      const names = async () => {
        const caller = await callerWith(team, { login: (await logIn(team, 'root')).login });
        const { users } = await team.edge.listUsers({ page: undefined, q: '' }, caller);
        return users.map(({ displayName }) => displayName);
      };
      const bearer = await token(RESOURCE, format, 'eve');
      expect(await code(bearer, OTHER)).toBe('UNAUTHENTICATED');
      expect(await names()).not.toContain('eve');
      expect(await code(bearer, RESOURCE)).toBe('access_token');
      expect(await names()).toContain('eve');
    });

    it('asks the provider once per minute about a token that is used for other resources only', async () => {
      const bearer = await token(RESOURCE, format);
      await code(bearer, OTHER);
      const before = team.provider.requests.length;
      for (let time = 0; time < 5; time++) {
        clock.advance(5_000);
        expect(await code(bearer, `${OTHER}/${time}`)).toBe('UNAUTHENTICATED');
      }
      expect(team.provider.requests).toHaveLength(before);
    });
  });

  it('accepts personal access tokens and logins for every resource', async () => {
    const { login } = await logIn(team, 'bob');
    const caller = await callerWith(team, { login });
    const creation = { name: 'A token', scopes: ['mcp'], idempotencyKey: '' };
    const { value } = await team.edge.createToken(creation, caller);
    for (const resource of [RESOURCE, OTHER, undefined]) expect(await code(value, resource)).toMatch(/^tok_/);
  });

  it('does not block a token at its resource when its sender was rejected elsewhere', async () => {
    await team[Symbol.asyncDispose]();
    await open({ SERVICE_RATE_LIMIT_LOGINS_PER_MINUTE: '3' });
    const bearer = await token(RESOURCE);
    expect(await code(bearer, RESOURCE)).toBe('access_token');
    for (let time = 0; time < 3; time++) expect(await code(bearer, OTHER)).toBe('UNAUTHENTICATED');
    expect(await code(bearer, OTHER)).toBe('RATE_LIMITED');
    expect(await code(bearer, RESOURCE)).toBe('access_token');
  });

  it('accepts no access token of the resource without a configured audience', async () => {
    await team[Symbol.asyncDispose]();
    await open({ SERVICE_OIDC_AUDIENCE: '', SERVICE_OIDC_INTROSPECTION: 'false' });
    expect(await code(await token(RESOURCE), RESOURCE)).toBe('UNAUTHENTICATED');
  });
});

describe.each(TRANSPORTS)('GetAuthorizationServer RPC, %s', (transport) => {
  async function answer(env: AuthOptions['env'], change?: (team: TeamUnderTest) => void) {
    await using team = await openTeamUnderTest(transport, env ? { env } : {});
    change?.(team);
    const { issuer, scopePrefix } = await team.edge.getAuthorizationServer({});
    return { isConfigured: issuer === team.provider.issuer, issuer, scopePrefix };
  }

  it('returns the issuer and the prefix of scopes', async () => {
    expect(await answer({})).toMatchObject({ isConfigured: true, scopePrefix: 'agents:' });
    const prefixed = { SERVICE_OIDC_SCOPE_PREFIX: 'api://agents/' };
    expect(await answer(prefixed)).toMatchObject({ isConfigured: true, scopePrefix: 'api://agents/' });
  });

  it('returns the configured issuer while the provider cannot be reached', async () => {
    const isDown = (team: TeamUnderTest) => {
      team.provider.isUnavailable = true;
    };
    expect(await answer({}, isDown)).toMatchObject({ isConfigured: true });
  });

  it('returns no issuer without a configured audience', async () => {
    expect(await answer({ SERVICE_OIDC_AUDIENCE: '' })).toMatchObject({ issuer: undefined });
  });
});
