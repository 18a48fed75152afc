import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../../lib/error-codes.ts';
import { renderAccess, servedRoutes } from '../../../scripts/reference/access.ts';
import { AUDIENCE } from '../../support/identity-provider.ts';
import { type Document, operationsOf } from '../document.ts';
import { type Browser, type ParsedResponse, parseResponse } from './browser.ts';
import { CREDENTIALS, type CredentialName, type ExpectedResults } from './credentials.ts';
import { type AuthorizedResult, ROUTE_ACCESS, type RouteExpectation } from './route-access.ts';
import { expire, setScopes, startTeam, type Team } from './team.ts';

const NOWHERE = '7ZZZZZZZZZZZZZZZZZZZZZZZZZ';
const PREFIXES: Record<string, string> = {
  agent_id: 'agt',
  assistant_id: 'ast',
  session_id: 'ses',
  turn_id: 'trn',
  approval_id: 'apr',
  deployment_id: 'dep',
  environment_id: 'env',
  sandbox_id: 'sbx',
  post_id: 'pst',
  link_id: 'lnk',
  token_id: 'tok',
  user_id: 'usr',
  vault_id: 'vlt',
  credential_id: 'crd',
  rotation_id: 'rot',
  skill_id: 'skl',
  run_id: 'run',
  backfill_id: 'bkf',
  chat_id: 'cht',
  model: 'agt',
  response_id: 'resp',
};
const OPENAI = '/api/v1/openai/v1';
const LOGOUT = 'POST /api/v1/auth/logout';

const isChange = (route: string) => !route.startsWith('GET ');
const ROUTES = Object.entries(ROUTE_ACCESS);
/** One route of each required access that reads, and one that changes something. */
const ROUTE_OF_EACH_KIND = [
  ...new Map(ROUTES.map((one) => [`${one[1].needs} ${isChange(one[0])}`, one])).values(),
];

/** The headers that carry a credential. */
type CredentialHeaders = Record<string, string>;

describe('the access of every route', () => {
  let team: Team;
  let headersByCredential: Record<CredentialName, CredentialHeaders>;
  beforeAll(async () => {
    team = await startTeam();
    headersByCredential = await prepare(team);
  });
  afterAll(() => team[Symbol.asyncDispose]());

  async function request(route: string, headers: CredentialHeaders): Promise<ParsedResponse> {
    const [method = '', path = ''] = route.split(' ');
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
      name === 'version' ? '1' : `${PREFIXES[name]}_${NOWHERE}`,
    );
    const json = ['GET', 'HEAD', 'DELETE'].includes(method) ? {} : { 'content-type': 'application/json' };
    const init = { method, headers: { ...json, ...headers }, redirect: 'manual' as const };
    const body = 'content-type' in json ? { body: '{}' } : {};
    return parseResponse(
      await fetch(team.url + filled + (ROUTE_ACCESS[route.replace('HEAD', 'GET')]?.query ?? ''), {
        ...init,
        ...body,
      }),
    );
  }

  /** The logout route needs a new login for each request. */
  async function headersFor(credential: CredentialName, route: string): Promise<CredentialHeaders> {
    const headers = headersByCredential[credential];
    if (route !== LOGOUT || !credential.startsWith('a login of')) return headers;
    const browser = await team.logIn(credential.includes('administrator') ? 'alice' : 'bob');
    return { ...headers, cookie: browser.jar.header() };
  }

  it('the expectations cover exactly the registered routes', async () => {
    const served = (await servedRoutes()).map(({ method, path }) => `${method} ${path}`);
    expect(new Set(served).size).toBe(served.length);
    const reading = served.filter((one) => !one.startsWith('HEAD '));
    expect(reading.toSorted()).toEqual(Object.keys(ROUTE_ACCESS).toSorted());
  });

  it.each(Object.keys(CREDENTIALS) as CredentialName[])('is as expected for: %s', async (credential) => {
    const wrong: string[] = [];
    await all(routesFor(credential), async ([route, row]) => {
      const headers = await headersFor(credential, route);
      const answer = await request(route, headers);
      const expected = expectedOf(CREDENTIALS[credential], route, row, 'authorization' in headers);
      const got = answer.code || answer.status;
      if (got !== expected) wrong.push(`${route}: ${got} and not ${expected}`);
      else if (typeof expected === 'string' && expected !== 'OK')
        if (answer.status !== ERRORS[expected].status)
          wrong.push(`${route}: ${expected} with ${answer.status}`);
      const challenge = challengeOf(expected, row, 'authorization' in headers, metadataUrl(team.url, route));
      if (answer.headers.get('www-authenticate') !== challenge)
        wrong.push(`${route}: WWW-Authenticate: ${answer.headers.get('www-authenticate')}`);
    });
    expect(wrong).toEqual([]);
  });

  it('HEAD requires the same access as GET', async () => {
    const heads = (await servedRoutes()).filter(({ method }) => method === 'HEAD');
    expect(heads.length).toBeGreaterThan(30);
    await all(heads, async ({ path }) => {
      for (const credential of ['no credential', 'a token to read'] as const) {
        const headers = headersByCredential[credential];
        const [head, get] = [await request(`HEAD ${path}`, headers), await request(`GET ${path}`, headers)];
        expect(head.status, `${path}, ${credential}`).toBe(get.status);
        expect(head.text).toBe('');
      }
    });
  });

  it('verbose readiness and metrics require an administrator', async () => {
    for (const path of ['/readyz?verbose', '/healthz?verbose=1']) {
      const codeFor = async (credential: CredentialName) =>
        (await request(`GET ${path}`, headersByCredential[credential])).code;
      expect(await codeFor('no credential')).toBe('UNAUTHENTICATED');
      expect(await codeFor('an expired token')).toBe('TOKEN_EXPIRED');
      expect(await codeFor('a token to write')).toBe('SCOPE_INSUFFICIENT');
      expect(await codeFor('a login of a member')).toBe('FORBIDDEN');
      expect(await codeFor('a token to administer')).toBe('OK');
      expect(await codeFor('a login of an administrator')).toBe('OK');
    }
  });

  it('unknown paths and methods get the same response with every credential', async () => {
    for (const credential of Object.keys(headersByCredential) as CredentialName[]) {
      if (CREDENTIALS[credential].nothing === 'CSRF_REJECTED' || 'change' in CREDENTIALS[credential])
        continue;
      expect((await request('GET /api/v1/nowhere', headersByCredential[credential])).code, credential).toBe(
        'ROUTE_NOT_FOUND',
      );
      expect((await request('PUT /api/v1/agents', headersByCredential[credential])).code, credential).toBe(
        'METHOD_NOT_ALLOWED',
      );
    }
  });

  it('the OpenAPI document lists the same security requirements', async () => {
    const document: Document = JSON.parse((await request('GET /openapi.json', {})).text);
    const operations = operationsOf(document);
    expect(operations.length).toBeGreaterThan(80);
    for (const { method, path, security, 'x-required-scope': scope } of operations) {
      const { needs } = ROUTE_ACCESS[`${method} ${path}`] ?? { needs: 'a row' };
      const closed = needs.startsWith('mcp') ? [{ token: [] }] : [{ token: [] }, { login: [] }];
      const isOpen = needs === 'nothing' || needs === 'a signature';
      // The plain check needs no credential, `verbose` needs an administrator.
      const probes = ['/readyz', '/healthz'].includes(path) ? [{}, ...closed] : [];
      // A public card needs no credential.
      const required = path.endsWith('/agent-card.json') ? [{}, ...closed] : closed;
      expect(security, `${method} ${path}`).toEqual(isOpen ? probes : required);
      expect(scope, `${method} ${path}`).toBe(isOpen ? undefined : needs);
    }
  });

  it('docs/reference/access.md lists the same access', async () => {
    const lines = (await renderAccess()).split('\n').filter((line) => line.startsWith('| `'));
    const documented = new Map(
      lines.map((line) => {
        const [route = '', asks, ...cells] = line
          .slice(2, -2)
          .split(' | ')
          .map((cell) => cell.replaceAll('`', ''));
        return [route, [asks, ...cells]];
      }),
    );
    const columns: CredentialName[] = [
      'no credential',
      'a token to read',
      'a token to write',
      'a token to administer',
      'a token for protocols',
      'a login of a member',
      'a login of an administrator',
    ];
    const expected = new Map(
      Object.entries(ROUTE_ACCESS).map(([route, row]) => [
        route,
        [requiredScope(row), ...columns.map((column) => cellOf(CREDENTIALS[column], row))],
      ]),
    );
    expect([...documented].toSorted()).toEqual([...expected].toSorted());
  });
});

/** A credential that no route accepts is refused before the route matters. */
function routesFor(credential: CredentialName) {
  const { read, write, admin, mcp }: ExpectedResults = CREDENTIALS[credential];
  const isAccepted = [read, write, admin, mcp].some((one) => one === 'member' || one === 'administrator');
  return isAccepted || credential === 'no credential' ? ROUTES : ROUTE_OF_EACH_KIND;
}

function expectedOf(
  expected: ExpectedResults,
  route: string,
  row: RouteExpectation,
  isToken: boolean,
): AuthorizedResult {
  const ignoresCookies = row.needs === 'a signature' || row.needs.startsWith('mcp');
  const outcome =
    expected.change && isChange(route) && !ignoresCookies ? expected.change : expected[row.needs];
  if (outcome === 'administrator')
    return (isToken ? row.token : undefined) ?? row.administrator ?? row.member;
  if (outcome === 'member') return (isToken ? row.token : undefined) ?? row.member;
  return outcome;
}

function challengeOf(
  expected: AuthorizedResult,
  { needs }: RouteExpectation,
  isToken: boolean,
  metadata: string | undefined,
): string | null {
  const realm = 'Bearer realm="agent-hosting-service"';
  const login = metadata ? `, resource_metadata="${metadata}", scope="agents:mcp"` : '';
  if (expected === 'UNAUTHENTICATED' || expected === 'TOKEN_EXPIRED')
    return `${realm}${isToken ? ', error="invalid_token"' : ''}${login}`;
  if (expected !== 'SCOPE_INSUFFICIENT') return null;
  const scope = needs === 'mcp or write' ? 'mcp' : needs;
  return `${realm}, error="insufficient_scope"${login || `, scope="${scope}"`}`;
}

/** The URL of the metadata of a protected resource, with the ids that the requests have. Undefined for other routes. */
function metadataUrl(origin: string, route: string): string | undefined {
  const [, path = ''] = route.split(' ');
  const resource = path.startsWith(`${OPENAI}/`) ? OPENAI : path.replace('{agent_id}', `agt_${NOWHERE}`);
  const isResource = resource === OPENAI || ROUTE_ACCESS[route]?.needs === 'mcp';
  return isResource ? `${origin}/.well-known/oauth-protected-resource${resource}` : undefined;
}

const requiredScope = ({ needs }: RouteExpectation) =>
  needs === 'nothing' || needs === 'a signature' ? 'open' : needs;

function cellOf(expected: ExpectedResults, { needs, member }: RouteExpectation): string {
  const outcome = expected[needs];
  if (outcome === 'member') return needs === 'admin' && member !== 'OK' ? '403' : 'yes';
  if (outcome === 'administrator') return 'yes';
  return String(ERRORS[outcome].status);
}

/** Creates one credential of every kind. */
async function prepare(team: Team): Promise<Record<CredentialName, CredentialHeaders>> {
  const { provider } = team;
  for (const name of ['dave', 'erin']) provider.accounts[name] = { name, email: `${name}@example.com` };
  const [alice, bob, carol, dave, erin] = await Promise.all(
    ['alice', 'bob', 'carol', 'dave', 'erin'].map((name) => team.logIn(name)),
  );
  if (!alice || !bob || !carol || !dave || !erin) throw new Error('a login is missing');
  const bearer = (token: string): CredentialHeaders => ({ authorization: `Bearer ${token}` });
  const of = async (browser: Browser, ...scopes: string[]) => bearer((await browser.token(scopes)).value);
  const access = async (subject: string, scope: string, audience = AUDIENCE) =>
    bearer(await provider.accessToken(subject, { scope, audience }));

  const expired = await bob.token(['write'], 1);
  await expire(team, expired.id);
  const revoked = await bob.token(['write']);
  await bob.send('DELETE', `/api/v1/auth/tokens/${revoked.id}`);
  const disabled = await dave.token(['write']);
  await alice.post(`/api/v1/admin/users/${await dave.userId()}/disable`);
  const unknownScope = await alice.token(['read']);
  await setScopes(team, unknownScope.id, ['obsolete']);
  const ended = erin.jar.header();
  await erin.post('/api/v1/auth/logout');
  const typo = (await bob.token(['write'])).value.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  const cookie = 'ahs_login=c29tZXRoaW5nIHRoYXQgaXMgbm90IGEgbG9naW4gYXQgYWxs';
  const origin = new URL(team.url).origin;
  const login = (browser: Browser, from: CredentialHeaders): CredentialHeaders => ({
    cookie: browser.jar.header(),
    ...from,
  });

  return {
    'no credential': {},
    'a garbage token': bearer('garbage'),
    'a token with a typo': bearer(typo),
    'an empty bearer': { authorization: 'Bearer' },
    'a garbage cookie': { cookie },
    'a garbage cookie with the Origin of the service': { cookie, origin },
    'an expired token': bearer(expired.value),
    'a revoked token': bearer(revoked.value),
    'a token of a disabled user': bearer(disabled.value),
    'a login that has ended': { cookie: ended, origin },
    'a garbage token beside a login': { ...login(alice, { origin }), ...bearer('garbage') },

    'a member': await of(bob, 'read', 'write'),
    'another user': await of(carol, 'read', 'write'),
    'an administrator': await of(alice, 'read', 'write', 'admin'),

    'a token to read': await of(alice, 'read'),
    'a token to write': await of(alice, 'write'),
    'a token to administer': await of(alice, 'admin'),
    'a token for protocols': await of(alice, 'mcp'),
    'a token to approve': await of(alice, 'approve'),
    'a token with an unknown scope': bearer(unknownScope.value),

    'an access token to read': await access('alice', 'agents:read'),
    'an access token to write': await access('alice', 'agents:write'),
    'an access token to administer, of a member': await access('bob', 'agents:admin'),
    'an access token to administer': await access('alice', 'agents:admin'),
    'an access token for protocols': await access('alice', 'agents:mcp'),
    'an access token for another service': await access('alice', 'agents:read', 'https://other.example.com'),
    'an access token without a scope of the service': await access('alice', 'other:read'),

    'a login of a member': login(bob, { origin }),
    'a login of a member without an Origin': login(bob, {}),
    'a login of a member from another origin': login(bob, { origin: 'http://evil.example' }),
    'a login of an administrator': login(alice, { origin }),
  };
}

/** Processes a few items at a time, in any order. */
async function all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}
