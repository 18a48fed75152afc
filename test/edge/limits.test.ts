import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, type ApiResponse, createApi, type Webhook } from '../support/api.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';
import { type Browser, parseResponse } from './access/browser.ts';
import { startTeam, type Team } from './access/team.ts';

const DAY_SECONDS = 86_400;

/** The Retry-After of a response, which its header and its body must agree on. */
function retryAfterOf({ status, headers, body }: ApiResponse): number {
  expect(status).toBe(429);
  const seconds = Number(body.data.retry_after_seconds);
  expect(headers.get('retry-after')).toBe(String(seconds));
  expect(body.error).toMatchObject({ category: 'limit', retryable: true, owner: 'client', status_code: 429 });
  return seconds;
}

describe('SERVICE_RATE_LIMIT_REQUESTS_PER_MINUTE', () => {
  let system: System;
  let api: Api;
  let webhook: Webhook;
  let agent: string;
  beforeAll(async () => {
    system = await startSystem({ SERVICE_RATE_LIMIT_REQUESTS_PER_MINUTE: '20' });
    api = createApi(system.url);
    agent = await api.createAgent();
    webhook = await api.createWebhook(agent);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('returns 429 with Retry-After above the limit and does not limit webhooks and probes', async () => {
    // Requests one after the other can be slower than the refill.
    const answers = await Promise.all(Array.from({ length: 60 }, () => api.get('/agents')));
    const refused = answers.find(({ status }) => status !== 200);
    if (!refused) throw new Error('no request was refused');
    expect(refused.body.code).toBe('RATE_LIMITED');
    const wait = retryAfterOf(refused);
    expect(wait).toBeGreaterThanOrEqual(1);
    expect(wait).toBeLessThanOrEqual(3);
    for (let time = 0; time < 5; time++) expect((await api.trigger(webhook, '{}')).body.code).toBe('OK');
    expect((await fetch(`${system.url}/readyz`)).status).toBe(200);
  });
});

describe('SERVICE_QUOTA_TURNS_PER_DAY', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem({ SERVICE_QUOTA_TURNS_PER_DAY: '3' });
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('refuses messages and webhooks until the next day and records the reason of refused invocations', async () => {
    const agent = await api.createAgent();
    const webhook = await api.createWebhook(agent);
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'one' });
    const session = String(body.data.session_id);
    expect((await api.post(`/sessions/${session}/messages`, { content: 'two' })).status).toBe(202);
    expect((await api.trigger(webhook, '{}')).status).toBe(200);
    for (const answer of [
      await api.post(`/sessions/${session}/messages`, { content: 'four' }),
      await api.post(`/agents/${agent}/conversations`, { message: 'four' }),
      await api.trigger(webhook, '{}'),
    ]) {
      expect(answer.body.code).toBe('QUOTA_EXCEEDED');
      expect(retryAfterOf(answer)).toBeLessThanOrEqual(DAY_SECONDS);
    }
    const calls = `/admin/agents/${agent}/deployments/${webhook.id}/invocations`;
    await until('the refusal is logged', async () => {
      const { body: logged } = await api.get(calls);
      return logged.data
        .map((call: unknown) => (call as { reason: string | null }).reason)
        .includes('quota_exceeded');
    });
  });
});

describe('rate limits in mode oidc', () => {
  let team: Team;
  let alice: Browser;
  let bob: Browser;
  beforeAll(async () => {
    team = await startTeam({
      SERVICE_RATE_LIMIT_REQUESTS_PER_MINUTE: '30',
      SERVICE_RATE_LIMIT_LOGINS_PER_MINUTE: '10',
      SERVICE_TRUSTED_PROXIES: '127.0.0.1',
    });
    [alice, bob] = [await team.logIn('alice'), await team.logIn('bob')];
  });
  afterAll(() => team[Symbol.asyncDispose]());

  const agents = `/api/v1/agents`;
  const from = (address: string, headers: Record<string, string>) =>
    fetch(team.url + agents, { headers: { 'x-forwarded-for': address, ...headers } }).then(parseResponse);

  it('apply per user across logins and tokens', async () => {
    const { value } = await bob.token(['read']);
    const browser = () => bob.get(agents);
    const program = () => from('203.0.113.1', { authorization: `Bearer ${value}` });
    // Requests one after the other can be slower than the refill, and a late Redis counter may allow the local limit once more.
    // Five requests of the program stay below a limit of its own.
    const codes = new Set<string>();
    for (let attempt = 0; attempt < 5; attempt++) {
      const burst = Promise.all(Array.from({ length: 40 }, browser));
      codes.add((await program()).code);
      expect((await burst).map(({ code }) => code)).toContain('RATE_LIMITED');
    }
    expect(codes).toContain('RATE_LIMITED');
    expect((await alice.get(agents)).code).toBe('OK');
  });

  it('apply per client address to requests with invalid credentials', async () => {
    const invented = { authorization: 'Bearer ahs_made-up' };
    const codes: string[] = [];
    // Entries that the client itself writes into the header must not change its identity.
    const send = async () => {
      const answer = await from(`198.51.100.${codes.length + 1}, 203.0.113.2`, invented);
      codes.push(answer.code);
      return answer;
    };
    const refusal = () =>
      until('a request is refused', async () => {
        const answer = await send();
        return answer.code === 'RATE_LIMITED' ? answer : undefined;
      });
    for (let time = 0; time < 10; time++) await send();
    expect(codes).toEqual(Array(10).fill('UNAUTHENTICATED'));
    await refusal();
    expect((await from('203.0.113.3', invented)).code).toBe('UNAUTHENTICATED');
    const cookie = alice.jar.header();
    expect((await from('203.0.113.2', { cookie })).code).toBe('OK');
    const refused = await refusal();
    // A request is refilled every six seconds. The exact number is tested with a fake clock in rate-limiter.test.ts.
    expect(refused.headers.get('retry-after')).toMatch(/^[1-6]$/);
    expect(refused.headers.get('www-authenticate')).toBeNull();
  });
});
