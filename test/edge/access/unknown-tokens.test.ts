import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expectRefusal, readResponse } from '../envelope.ts';
import { startTeam, type Team } from './team.ts';

const LIMIT = 5;
const JWT_HEAD = Buffer.from('{"alg":"none"}').toString('base64url');

describe('GET /agents with an unknown bearer token', () => {
  let team: Team;
  beforeAll(async () => {
    team = await startTeam({
      SERVICE_OIDC_INTROSPECTION: 'true',
      SERVICE_RATE_LIMIT_PROVIDER_QUERIES_PER_MINUTE: `${LIMIT}`,
      SERVICE_TRUSTED_PROXIES: '127.0.0.1',
    });
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const send = async (token: string, address = '203.0.113.7') => {
    const headers = { authorization: `Bearer ${token}`, 'x-forwarded-for': address };
    return readResponse(await fetch(`${team.url}/api/v1/agents`, { headers }));
  };

  it('returns UNAUTHENTICATED for malformed JWTs while the identity provider is away', async () => {
    team.provider.isUnavailable = true;
    for (const token of [`${JWT_HEAD}.e30`, `${JWT_HEAD}.e30.`, `${JWT_HEAD}..`, '..', 'a.b.c.d.e', 'a.b'])
      expectRefusal(await send(token), 'UNAUTHENTICATED');
    team.provider.isUnavailable = false;
  });

  it('queries the identity provider at most as often as the limit, per client behind a trusted proxy', async () => {
    const introspections = () =>
      team.provider.requests.filter((path) => path.includes('introspection')).length;
    for (const address of ['198.51.100.1', '198.51.100.2']) {
      const before = introspections();
      for (let index = 0; index < 4 * LIMIT; index++)
        expectRefusal(await send(`unknown-${index}-${address.at(-1)}`, address), 'UNAUTHENTICATED');
      expect(introspections() - before).toBeGreaterThanOrEqual(LIMIT - 1);
      expect(introspections() - before).toBeLessThanOrEqual(LIMIT);
    }
  });
});
