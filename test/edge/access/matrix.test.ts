import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ERRORS } from '../../../lib/errors.ts';
import { renderAccess, servedRoutes } from '../../../scripts/reference/access.ts';
import { AUDIENCE } from '../../support/identity-provider.ts';
import { type Document, operationsOf } from '../document.ts';
import { type Browser, type Seen, seen } from './browser.ts';
import { type Inside, type Row, TABLE } from './routes.ts';
import { expire, startTeam, type Team } from './team.ts';
import { type Expected, VISITORS, type Visitor } from './visitors.ts';

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
  token_id: 'tok',
  user_id: 'usr',
  chat_id: 'cht',
};
const LOGOUT = 'POST /api/v1/auth/logout';

/** What a visitor's requests carry. */
type Carried = Record<string, string>;

describe('who may come in', () => {
  let team: Team;
  let carried: Record<Visitor, Carried>;
  beforeAll(async () => {
    team = await startTeam();
    carried = await prepare(team);
  });
  afterAll(() => team[Symbol.asyncDispose]());

  async function ask(route: string, headers: Carried): Promise<Seen> {
    const [method = '', path = ''] = route.split(' ');
    const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => `${PREFIXES[name]}_${NOWHERE}`);
    const json = ['GET', 'HEAD', 'DELETE'].includes(method) ? {} : { 'content-type': 'application/json' };
    const init = { method, headers: { ...json, ...headers }, redirect: 'manual' as const };
    const body = 'content-type' in json ? { body: '{}' } : {};
    return seen(
      await fetch(team.url + filled + (TABLE[route.replace('HEAD', 'GET')]?.query ?? ''), {
        ...init,
        ...body,
      }),
    );
  }

  /** A login that is told to end is another one each time. */
  async function headersFor(visitor: Visitor, route: string): Promise<Carried> {
    const headers = carried[visitor];
    if (route !== LOGOUT || !visitor.startsWith('a login of')) return headers;
    const browser = await team.logIn(visitor.includes('administrator') ? 'alice' : 'bob');
    return { ...headers, cookie: browser.jar.header() };
  }

  it('the table has every route that is served, and no other', async () => {
    const served = (await servedRoutes()).map(({ method, path }) => `${method} ${path}`);
    expect(new Set(served).size).toBe(served.length);
    const reading = served.filter((one) => !one.startsWith('HEAD '));
    expect(reading.toSorted()).toEqual(Object.keys(TABLE).toSorted());
  });

  it.each(Object.keys(VISITORS) as Visitor[])('%s', async (visitor) => {
    const wrong: string[] = [];
    await all(Object.entries(TABLE), async ([route, row]) => {
      const headers = await headersFor(visitor, route);
      const answer = await ask(route, headers);
      const expected = expectedOf(VISITORS[visitor], route, row, 'authorization' in headers);
      const got = answer.code || answer.status;
      if (got !== expected) wrong.push(`${route}: ${got} and not ${expected}`);
      else if (typeof expected === 'string' && expected !== 'OK')
        if (answer.status !== ERRORS[expected].status)
          wrong.push(`${route}: ${expected} with ${answer.status}`);
      const challenge = challengeOf(expected, row, 'authorization' in headers);
      if (answer.headers.get('www-authenticate') !== challenge)
        wrong.push(`${route}: WWW-Authenticate: ${answer.headers.get('www-authenticate')}`);
    });
    expect(wrong).toEqual([]);
  });

  it('HEAD is let in like GET', async () => {
    const heads = (await servedRoutes()).filter(({ method }) => method === 'HEAD');
    expect(heads.length).toBeGreaterThan(30);
    for (const { path } of heads) {
      for (const visitor of ['nobody', 'a token to read', 'a token to write', 'a token for MCP'] as const) {
        const [head, get] = [
          await ask(`HEAD ${path}`, carried[visitor]),
          await ask(`GET ${path}`, carried[visitor]),
        ];
        expect(head.status, `${path}, ${visitor}`).toBe(get.status);
        expect(head.text).toBe('');
      }
    }
  });

  it('what tells more than yes or no about the process is for administrators', async () => {
    for (const path of ['/readyz?verbose', '/healthz?verbose=1']) {
      const codeFor = async (visitor: Visitor) => (await ask(`GET ${path}`, carried[visitor])).code;
      expect(await codeFor('nobody')).toBe('UNAUTHENTICATED');
      expect(await codeFor('an expired token')).toBe('TOKEN_EXPIRED');
      expect(await codeFor('a token to write')).toBe('SCOPE_INSUFFICIENT');
      expect(await codeFor('a login of a member')).toBe('FORBIDDEN');
      expect(await codeFor('a token to administer')).toBe('OK');
      expect(await codeFor('a login of an administrator')).toBe('OK');
    }
  });

  it('paths and methods that do not exist are the same to everybody', async () => {
    for (const visitor of Object.keys(carried) as Visitor[]) {
      if (VISITORS[visitor].nothing === 'CSRF_REJECTED' || 'change' in VISITORS[visitor]) continue;
      expect((await ask('GET /api/v1/nowhere', carried[visitor])).code, visitor).toBe('ROUTE_NOT_FOUND');
      expect((await ask('PUT /api/v1/agents', carried[visitor])).code, visitor).toBe('METHOD_NOT_ALLOWED');
    }
  });

  it('the OpenAPI document says the same', async () => {
    const document: Document = JSON.parse((await ask('GET /openapi.json', {})).text);
    const operations = operationsOf(document);
    expect(operations.length).toBeGreaterThan(80);
    for (const { method, path, security } of operations) {
      const { needs } = TABLE[`${method} ${path}`] ?? { needs: 'a row' };
      const closed = [{ token: [needs] }, { login: [] }];
      const isOpen = needs === 'nothing' || needs === 'a signature';
      // Those who only ask for yes or no, and those who ask for more.
      const probes = ['/readyz', '/healthz'].includes(path) ? [{}, { token: ['admin'] }, { login: [] }] : [];
      expect(security, `${method} ${path}`).toEqual(isOpen ? probes : closed);
    }
  });

  it('the reference page says the same', async () => {
    const lines = (await renderAccess()).split('\n').filter((line) => line.startsWith('| `'));
    const said = new Map(
      lines.map((line) => {
        const [route = '', asks, ...cells] = line
          .slice(2, -2)
          .split(' | ')
          .map((cell) => cell.replaceAll('`', ''));
        return [route, [asks, ...cells]];
      }),
    );
    const columns: Visitor[] = [
      'nobody',
      'a token to read',
      'a token to write',
      'a token to administer',
      'a token for MCP',
      'a login of a member',
      'a login of an administrator',
    ];
    const meant = new Map(
      Object.entries(TABLE).map(([route, row]) => [
        route,
        [askedIn(row), ...columns.map((column) => cellOf(VISITORS[column], row))],
      ]),
    );
    expect([...said].toSorted()).toEqual([...meant].toSorted());
  });
});

const isChange = (route: string) => !route.startsWith('GET ');

function expectedOf(expected: Expected, route: string, row: Row, isToken: boolean): Inside {
  const outcome =
    expected.change && isChange(route) && row.needs !== 'a signature' ? expected.change : expected[row.needs];
  if (outcome === 'administrator')
    return (isToken ? row.token : undefined) ?? row.administrator ?? row.member;
  if (outcome === 'member') return (isToken ? row.token : undefined) ?? row.member;
  return outcome;
}

function challengeOf(expected: Inside, { needs }: Row, isToken: boolean): string | null {
  const realm = 'Bearer realm="agent-hosting-service"';
  if (expected === 'UNAUTHENTICATED' || expected === 'TOKEN_EXPIRED')
    return isToken ? `${realm}, error="invalid_token"` : realm;
  return expected === 'SCOPE_INSUFFICIENT' ? `${realm}, error="insufficient_scope", scope="${needs}"` : null;
}

const askedIn = ({ needs }: Row) => (needs === 'nothing' || needs === 'a signature' ? 'open' : needs);

function cellOf(expected: Expected, { needs, member }: Row): string {
  const outcome = expected[needs];
  if (outcome === 'member') return needs === 'admin' && member !== 'OK' ? '403' : 'yes';
  if (outcome === 'administrator') return 'yes';
  return String(ERRORS[outcome].status);
}

/** Somebody of every kind. */
async function prepare(team: Team): Promise<Record<Visitor, Carried>> {
  const { provider } = team;
  for (const name of ['dave', 'erin']) provider.accounts[name] = { name, email: `${name}@example.com` };
  const [alice, bob, carol, dave, erin] = await Promise.all(
    ['alice', 'bob', 'carol', 'dave', 'erin'].map((name) => team.logIn(name)),
  );
  if (!alice || !bob || !carol || !dave || !erin) throw new Error('somebody has not come');
  const bearer = (token: string): Carried => ({ authorization: `Bearer ${token}` });
  const of = async (browser: Browser, ...scopes: string[]) => bearer((await browser.token(scopes)).value);
  const access = async (subject: string, scope: string, audience = AUDIENCE) =>
    bearer(await provider.accessToken(subject, { scope, audience }));

  const expired = await bob.token(['write'], 1);
  await expire(team, expired.id);
  const revoked = await bob.token(['write']);
  await bob.send('DELETE', `/api/v1/auth/tokens/${revoked.id}`);
  const disabled = await dave.token(['write']);
  await alice.post(`/api/v1/admin/users/${await dave.userId()}/disable`);
  const ended = erin.jar.header();
  await erin.post('/api/v1/auth/logout');
  const slip = (await bob.token(['write'])).value.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
  const cookie = 'ahs_login=c29tZXRoaW5nIHRoYXQgaXMgbm90IGEgbG9naW4gYXQgYWxs';
  const origin = new URL(team.url).origin;
  const login = (browser: Browser, from: Carried): Carried => ({ cookie: browser.jar.header(), ...from });

  return {
    nobody: {},
    'a garbage token': bearer('garbage'),
    'a token with a slip of the pen': bearer(slip),
    'an empty bearer': { authorization: 'Bearer' },
    'a garbage cookie': { cookie },
    'a garbage cookie from a page of ours': { cookie, origin },
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
    'a token for MCP': await of(alice, 'mcp'),

    'an access token to read': await access('alice', 'agents:read'),
    'an access token to write': await access('alice', 'agents:write'),
    'an access token to administer, of a member': await access('bob', 'agents:admin'),
    'an access token to administer': await access('alice', 'agents:admin'),
    'an access token for another service': await access('alice', 'agents:read', 'https://other.example.com'),
    'an access token without a scope of ours': await access('alice', 'other:read'),

    'a login of a member': login(bob, { origin }),
    'a login of a member without an Origin': login(bob, {}),
    'a login of a member from a page of somebody else': login(bob, { origin: 'http://evil.example' }),
    'a login of an administrator': login(alice, { origin }),
  };
}

/** A few at a time, in no order that matters. */
async function all<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const worker = async () => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: 6 }, worker));
}
