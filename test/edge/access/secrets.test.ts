import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Collector, startCollector } from '../../support/collector.ts';
import { createDatabase } from '../../support/database.ts';
import { IdentityProvider } from '../../support/identity-provider.ts';
import { freePort } from '../../support/port.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { rowsOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';
import { Browser, type ParsedResponse, parseResponse } from './browser.ts';
import { teamSettings } from './team.ts';

const CLIENT_SECRET = 'what-the-provider-and-the-service-alone-know';
const CALLBACK = '/api/v1/auth/callback';

/** Collects secrets, with a name for the report. */
class SecretCollector {
  readonly secrets = new Map<string, string>();

  add(name: string, secret: string): string {
    expect(secret.length, name).toBeGreaterThan(15);
    this.secrets.set(`${name}, ${this.secrets.size}`, secret);
    return secret;
  }

  /** The names of the secrets that a text contains, plain or percent-encoded. */
  in(text: string): string[] {
    return [...this.secrets].flatMap(([name, secret]) =>
      text.includes(secret) || text.includes(encodeURIComponent(secret)) ? [name] : [],
    );
  }
}

describe('secrets (tokens, cookies, codes and verifiers)', () => {
  const stack = new AsyncDisposableStack();
  const collected = new SecretCollector();
  /** Every response that must not contain a secret. */
  const answers: ParsedResponse[] = [];
  let collector: Collector;
  let provider: IdentityProvider;
  let program: Program;
  let origin: string;
  let databaseUrl: string;
  let alice: Browser;

  beforeAll(async () => {
    collector = stack.use(await startCollector());
    const accounts = { alice: { name: 'Alice', groups: ['operators'] }, bob: { name: 'Bob' } };
    provider = stack.use(await IdentityProvider.open({ accounts, clientSecret: CLIENT_SECRET }));
    databaseUrl = stack.use(await createDatabase()).url;
    const directory = await mkdtemp(join(tmpdir(), 'ahs-secrets-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    provider.setOrigin(origin);
    program = runProgram({
      ...teamSettings(provider),
      SERVICE_OIDC_CLIENT_SECRET: CLIENT_SECRET,
      SERVICE_PORT: String(port),
      SERVICE_DATABASE_URL: databaseUrl,
      SERVICE_DATA_DIR: directory,
      SERVICE_LOG_LEVEL: 'debug',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    });
    stack.defer(async () => {
      program.kill('SIGTERM');
      await program.exited;
    });
    const answersAt = async () => (await fetch(`${origin}/readyz`).catch(() => undefined))?.ok ?? false;
    await until('the program is ready', answersAt);
    await use();
  });
  afterAll(() => stack.disposeAsync());

  const note = (answer: ParsedResponse): ParsedResponse => {
    answers.push(answer);
    return answer;
  };
  const send = async (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
    note(await parseResponse(await fetch(origin + path, { redirect: 'manual', ...init, headers })));

  /** Performs a login and collects its secrets. */
  async function logIn(subject: string): Promise<Browser> {
    const browser = new Browser(origin);
    const begun = note(await browser.get('/api/v1/auth/login?return_to=/docs'));
    const url = new URL(begun.headers.get('location') ?? '');
    for (const name of ['state', 'nonce'])
      collected.add(`${name} of ${subject}`, url.searchParams.get(name) ?? '');
    const attempt = browser.jar.header().split('=')[1] ?? '';
    collected.add(`attempt of ${subject}`, attempt);
    const query = new URLSearchParams(await provider.login(url.href, subject));
    collected.add(`code of ${subject}`, query.get('code') ?? '');
    note(await browser.get(`${CALLBACK}?${query}`));
    collected.add(`login of ${subject}`, browser.jar.header().split('ahs_login=')[1] ?? '');
    const { verifier = '', idToken = '', accessToken = '' } = provider.exchanges.at(-1) ?? {};
    collected.add(`verifier of ${subject}`, verifier);
    collected.add(`ID token of ${subject}`, idToken);
    collected.add(`first access token of ${subject}`, accessToken);
    return browser;
  }

  /** Finishes a login with an invalid code. */
  async function failToLogIn(): Promise<void> {
    const browser = new Browser(origin);
    const { headers } = await browser.get('/api/v1/auth/login');
    const state = new URL(headers.get('location') ?? '').searchParams.get('state') ?? '';
    const [attempt = ''] = browser.jar.header().split('=').slice(1);
    const code = collected.add('wrong code', `no-code-at-all-${collected.secrets.size}-but-secret`);
    collected.add('attempt', attempt);
    collected.add('state', state);
    note(await browser.get(`${CALLBACK}?${new URLSearchParams({ code, state, iss: provider.issuer })}`));
  }

  /** Uses every secret correctly and in every wrong place. */
  async function use(): Promise<void> {
    collected.add('client secret', CLIENT_SECRET);
    alice = await logIn('alice');
    const bob = await logIn('bob');
    const tokens = [await alice.token(['read', 'write', 'admin']), await bob.token(['read'])];
    for (const { id, value } of tokens) collected.add(id, value);
    const [admin, read] = tokens.map(({ value }) => value);
    const jwt = collected.add('access token', await provider.accessToken('bob'));
    collected.add('access token without a scope', await provider.accessToken('bob', { scope: 'other:read' }));
    collected.add('expired access token', await provider.accessToken('bob', { lifetimeSeconds: -3_600 }));
    collected.add('the token of another user', `ahs_${'Zx8'.repeat(15)}Q`);
    collected.add('garbage', 'dGhpcyBpcyBub3QgYSB0b2tlbiBhdCBhbGw');
    for (const secret of collected.secrets.values()) {
      for (const path of ['/api/v1/agents', '/metrics', '/api/v1/admin/users', '/nowhere'])
        for (const method of ['GET', 'POST', 'PUT']) {
          await send(path, { authorization: `Bearer ${secret}` }, { method });
          await send(path, { cookie: `ahs_login=${secret}; ahs_attempt=${secret}`, origin }, { method });
        }
      // Secrets in the wrong parameter must not be repeated either. Paths and queries of the API may be.
      await send(`${CALLBACK}?code=${secret}&state=${secret}`, { cookie: `ahs_attempt=${secret}` });
      await send('/api/v1/auth/logout', { cookie: `ahs_login=x${secret}`, origin }, { method: 'POST' });
    }
    const agent = await send('/api/v1/agents', json(admin), {
      method: 'POST',
      body: JSON.stringify({ name: 'Echo', model: 'rehearsal/echo' }),
    });
    const path = `/api/v1/agents/${agent.data.agent_id}/conversations`;
    await send(path, json(admin), { method: 'POST', body: '{"message": "Hello"}' });
    await send('/api/v1/agents', { authorization: `Bearer ${read}` });
    await send('/api/v1/agents', { authorization: `Bearer ${jwt}` });
    await send('/api/v1/auth/tokens', { cookie: bob.jar.header() });
    note(await alice.get('/api/v1/admin/users'));
    const out = await bob.post('/api/v1/auth/logout');
    // The browser sends its ID token to the provider to log out there.
    note({ ...out, text: out.text.replace(/id_token_hint=[^&"]+/, '') });
    await failToLogIn();
    provider.isUnavailable = true;
    await send('/api/v1/auth/login', {});
    await failToLogIn();
    provider.isUnavailable = false;
    const away = await logIn('bob');
    note(await away.get('/api/v1/auth/session'));
  }

  const json = (token = '') => ({ authorization: `Bearer ${token}`, 'content-type': 'application/json' });

  it('are created and used by the test', () => {
    expect(collected.secrets.size).toBeGreaterThan(12);
    expect(answers.length).toBeGreaterThan(300);
    const codes = new Set(answers.map(({ code, status }) => code || status));
    for (const code of [
      'OK',
      302,
      'UNAUTHENTICATED',
      'SCOPE_INSUFFICIENT',
      'FORBIDDEN',
      'LOGIN_FAILED',
      'TOKEN_EXPIRED',
    ])
      expect([...codes]).toContain(code);
  });

  it('are in no response, except where they are issued', () => {
    const found = answers.flatMap(({ text, headers, status }) => {
      // Location and Set-Cookie are meant for that browser.
      const [location, cookies] = [headers.get('location'), headers.getSetCookie().join('\n')];
      const checkedHeaders = [...headers].filter(([name]) => !['location', 'set-cookie'].includes(name));
      const others = status === 302 ? [] : [location ?? '', cookies];
      return collected
        .in([text, JSON.stringify(checkedHeaders), ...others].join('\n'))
        .map((name) => `${status}: ${name}`);
    });
    expect(found).toEqual([]);
  });

  it('are in no log line at the most verbose level', async () => {
    const failedLogins = () => program.output().split('a login failed').length - 1;
    await until('requests are logged', () => program.output().includes('"/api/v1/auth/callback"'));
    await until('both failed logins are logged', () => failedLogins() >= 2);
    const output = program.output();
    // A number, so that a failure does not print the complete text.
    expect(failedLogins()).toBe(2);
    expect(collected.in(output)).toEqual([]);
  });

  it('are in no span', async () => {
    const isThere = () => collector.spans.some(({ name }) => name === 'GET /api/v1/auth/callback');
    await until('the spans of logins have arrived', isThere);
    await until('the spans of changes have arrived', () =>
      collector.spans.some(({ name }) => name === 'POST /api/v1/agents'),
    );
    const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
    expect(collected.in(JSON.stringify(collector.spans, plain))).toEqual([]);
  });

  it('are in no metric', async () => {
    const { text } = await alice.get('/metrics');
    expect(text).toContain('ahs_http_request_duration_seconds_count');
    expect(collected.in(text)).toEqual([]);
  });

  it('are not readable in the database', async () => {
    const tables = await rowsOn<{ name: string }>(
      databaseUrl,
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_schema not in ('pg_catalog', 'information_schema')`,
    );
    expect(tables.length).toBeGreaterThan(15);
    const found: string[] = [];
    for (const { name } of tables) {
      const rows = await rowsOn<{ row: string }>(
        databaseUrl,
        `select to_jsonb(t)::text as row from ${name} t`,
      );
      const bytes = await rowsOn<{ row: string }>(
        databaseUrl,
        `select encode(convert_to(to_jsonb(t)::text, 'UTF8'), 'escape') as row from ${name} t`,
      );
      for (const { row } of [...rows, ...bytes])
        found.push(...collected.in(row).map((secret) => `${name}: ${secret}`));
    }
    // The state of an attempt is sent to the provider and only identifies a row.
    expect(found.filter((one) => !one.startsWith('auth.login_attempts: state'))).toEqual([]);
  });
});
