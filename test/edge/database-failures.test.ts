import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../lib/error-codes.ts';
import { type Api, createApi, signed, type Webhook } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { brokenInvariants } from '../support/invariants.ts';
import { type ObservedStatement, openPostgresProxy, type PostgresProxy } from '../support/postgres-proxy.ts';
import { countOn } from '../support/sql.ts';
import { startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { expectRefusal, readResponse } from './envelope.ts';

const STATES: [state: string, code: ErrorCode, connection: 'kept' | 'dropped'][] = [
  ['08006', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['57P01', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['58030', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['25006', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['40001', 'DEPENDENCY_UNAVAILABLE', 'kept'],
  ['53100', 'STORAGE_FULL', 'kept'],
  ['53200', 'DEPENDENCY_UNAVAILABLE', 'kept'],
  ['53300', 'DEPENDENCY_UNAVAILABLE', 'dropped'],
  ['55P03', 'DEPENDENCY_UNAVAILABLE', 'kept'],
  ['57014', 'DEADLINE_EXCEEDED', 'kept'],
];
const AGENT = { name: 'Echo', model: 'rehearsal/echo' };
const MESSAGE = { content: [{ type: 'text', text: 'Hello' }] };

describe('a failure of the database during a request', () => {
  const opened = new AsyncDisposableStack();
  let databaseUrl: string;
  let proxy: PostgresProxy;
  let api: Api;
  let agent: string;
  let session: string;
  let webhook: Webhook;

  beforeAll(async () => {
    databaseUrl = opened.use(await createDatabase()).url;
    proxy = opened.use(await openPostgresProxy(databaseUrl));
    // The calls that fail are logged, and these tests make hundreds of them.
    const settings = { SERVICE_DATABASE_URL: proxy.url, SERVICE_LOG_LEVEL: 'error' };
    api = createApi(opened.use(await startSystem(settings)).url);
    agent = await api.createAgent();
    webhook = await api.createWebhook(agent);
    session = String((await api.post(`/agents/${agent}/conversations`)).body.data.session_id);
  });
  afterAll(() => opened.disposeAsync());
  afterEach(() => proxy.clear());

  const send = (method: string, path: string, body?: object | string, headers: Record<string, string> = {}) =>
    fetch(`${api.origin}/api/v1${path}`, {
      method,
      headers: { ...(typeof body === 'object' ? { 'Content-Type': 'application/json' } : {}), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'object' ? JSON.stringify(body) : body }),
    });
  const withKey = (key: string = randomUUID()) => ({ 'Idempotency-Key': key });
  const trigger = () =>
    fetch(webhook.url, { method: 'POST', body: 'x', headers: signed(webhook.secret, 'x') });

  /** Requests, each with the service and the statements that fail. */
  const ROUTES: [route: string, service: string, failing: string[], request: () => Promise<Response>][] = [
    ['GET /sessions', 'sessions', ['sessions.list_owner_kept'], () => send('GET', '/sessions')],
    ['GET /agents/{agent_id}', 'agents', ['agents.by_id'], () => send('GET', `/agents/${agent}`)],
    ['POST /agents', 'agents', ['begin', 'agents.insert_version'], () => send('POST', '/agents', AGENT)],
    [
      'POST /agents with Idempotency-Key',
      'agents',
      ['idempotency.take', 'agents.insert', 'commit'],
      () => send('POST', '/agents', AGENT, withKey()),
    ],
    [
      'POST /agents/{agent_id}/conversations',
      'sessions',
      ['sessions.create'],
      () => send('POST', `/agents/${agent}/conversations`, {}),
    ],
    [
      'POST /agents/{agent_id}/conversations with Idempotency-Key',
      'sessions',
      ['sessions.create', 'commit'],
      () => send('POST', `/agents/${agent}/conversations`, {}, withKey()),
    ],
    [
      'POST /sessions/{session_id}/messages',
      'sessions',
      ['begin', 'sessions.apply', 'commit'],
      () => send('POST', `/sessions/${session}/messages`, MESSAGE),
    ],
    [
      'PUT /sessions/{session_id}/files/content',
      'files',
      ['files.add_contents', 'files.advance_workspace', 'commit'],
      () => send('PUT', `/sessions/${session}/files/content?path=a.txt`, randomUUID()),
    ],
    ['POST /auth/tokens', 'auth', ['auth.insert_token'], createToken],
    ['POST …/deployments', 'auth', ['auth.insert_acts'], createWebhook],
  ];
  function createToken(): Promise<Response> {
    return send('POST', '/auth/tokens', { name: 'Test', scopes: ['read'] });
  }
  function createWebhook(): Promise<Response> {
    return send('POST', `/admin/agents/${agent}/deployments`, { type: 'webhook' });
  }

  const failingAt = (service: string, name: string) => (statement: ObservedStatement) =>
    statement.application === `ahs-${service}` && statement.name === name;

  async function expectConnections(connection: 'kept' | 'dropped'): Promise<void> {
    expect(proxy.failures).not.toEqual([]);
    for (const failure of proxy.failures) {
      if (connection === 'dropped') await until('the connection is closed', () => failure.isDropped);
      else expect(failure.isDropped).toBe(false);
    }
  }

  describe.each(STATES)('SQLSTATE %s causes %s and a %s connection', (state, code, connection) => {
    it.each(ROUTES)('in %s', async (_, service, statements, request) => {
      for (const name of statements) {
        proxy.inject({ state, matches: failingAt(service, name) });
        const refused = await request();
        proxy.clear();
        expect(expectRefusal(await readResponse(refused), code), name).toEqual([]);
        await expectConnections(connection);
        const { status } = await request();
        expect(status, `the next request after a failed ${name}`).toBeLessThan(300);
      }
    });
  });

  it.each(['55P03', '57014', '53100'])('reaches the sender of a webhook, SQLSTATE %s', async (state) => {
    // A 503 is repeated by the service for a second, so one such state is enough.
    const [, code] = STATES.find(([one]) => one === state) ?? [];
    proxy.inject({ state, matches: failingAt('sessions', 'sessions.create') });
    const refused = await trigger();
    proxy.clear();
    expectRefusal(await readResponse(refused), code);
    expect((await trigger()).status).toBe(200);
  });

  it.each([undefined, '57P01', '40P01'])(
    'starts one session for a webhook when the answer to its creation is lost, SQLSTATE %s',
    async (state) => {
      const sessions = () => countOn(databaseUrl, 'select count(*) from sessions.sessions');
      const before = await sessions();
      const isPerformed = state !== '40P01';
      proxy.inject({ state, isPerformed, times: 1, matches: failingAt('sessions', 'sessions.create') });
      expect((await trigger()).status).toBe(200);
      expect(await sessions()).toBe(before + 1);
    },
  );

  it('performs a request once when the answer to its commit is lost and it is repeated with its key', async () => {
    const key = withKey();
    const agents = () => countOn(databaseUrl, 'select count(*) from agents.agents');
    const before = await agents();
    proxy.inject({ state: undefined, isPerformed: true, matches: failingAt('agents', 'commit') });
    expectRefusal(await readResponse(await send('POST', '/agents', AGENT, key)), 'DEPENDENCY_UNAVAILABLE');
    proxy.clear();
    const repeated = await send('POST', '/agents', AGENT, key);
    expect(repeated.status).toBe(201);
    expect(await agents()).toBe(before + 1);
  });

  it('does not stop background work: turns end after statements of every kind have failed', async () => {
    const before = await startTurn();
    const left: (string | undefined)[] = [undefined, ...STATES.map(([state]) => state)];
    const failed = new Set<string>();
    proxy.inject({
      get state() {
        return left.shift();
      },
      matches: ({ application, name }) => {
        failed.add(`${application} ${name}`);
        return true;
      },
    });
    const isTried = () =>
      failed.has('ahs-sessions sessions.wake_turns') && failed.has('ahs-files files.due_deliveries');
    await until('background statements have failed with every state', () => left.length === 0 && isTried());
    proxy.clear();
    const after = await startTurn();
    for (const one of [before, after]) {
      await until('the turn has ended', async () => {
        const { body } = await api.get(`/sessions/${one}/events`);
        return (body.data as { type: string }[]).some(({ type }) => type === 'turn.completed');
      });
    }
    const unfinished = 'select count(*) from sessions.turns where finished_at is null';
    await until('no turn is left', async () => (await countOn(databaseUrl, unfinished)) === 0);
    expect(await brokenInvariants(databaseUrl)).toEqual([]);
  });

  async function startTurn(): Promise<string> {
    const response = await send('POST', `/agents/${agent}/conversations`, { message: 'Hello' });
    expect(response.status).toBe(201);
    const { data } = (await response.json()) as { data: { session_id: string } };
    return data.session_id;
  }
});
