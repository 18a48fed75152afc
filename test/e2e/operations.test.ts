import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Api, createApi, signed } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { cleanUpInstallations, createUsedInstallation } from '../support/installations.ts';
import { freePort } from '../support/port.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

const MESSAGE = 'not for any log';

type Line = Record<string, unknown>;
const linesOf = (output: string): Line[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** Triggers a webhook and waits until its session is idle. */
async function runWebhook(api: Api) {
  const webhook = await api.createWebhook(await api.createAgent());
  const accepted = await api.trigger(webhook, MESSAGE);
  const session = String(accepted.body.data.session_id);
  await until('the turn has ended', async () => {
    const { body } = await api.get(`/sessions/${session}`);
    return body.data.status === 'idle';
  });
  return { webhook, session, requestId: accepted.headers.get('x-request-id'), accepted };
}

describe('the log', () => {
  cleanUpInstallations();

  it('contains a line with the request id and the ids of the path for every request and call at level debug', async () => {
    await using database = await createDatabase();
    const installation = await createUsedInstallation();
    const program = await installation.start({
      SERVICE_DATABASE_URL: database.url,
      SERVICE_LOG_LEVEL: 'debug',
    });
    const { webhook, session, requestId, accepted } = await runWebhook(installation.api);
    const missing = await installation.api.get('/sessions/ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
    const ours = await until('the lines are there', () => {
      const found = linesOf(program.output()).filter((line) => line.request_id === requestId);
      return found.length >= 5 && found;
    });
    const traceId = accepted.headers.get('traceparent')?.split('-')[1];
    expect(
      ours.map((line) => [line.service ?? 'HTTP', line.method, line.code ?? line.status]).sort(),
    ).toEqual([
      ['AgentsService', 'resolveAgent', 'OK'],
      ['AuthService', 'getUser', 'OK'],
      ['DeploymentsService', 'trigger', 'OK'],
      ['HTTP', 'POST', 200],
      ['SessionsService', 'createSession', 'OK'],
    ]);
    for (const line of ours) expect(line).toMatchObject({ level: 'debug', trace_id: traceId });
    expect(ours.find(({ method }) => method === 'trigger')).toMatchObject({
      deployment_id: webhook.id,
      peer: 'edge',
      duration_ms: expect.any(Number),
    });
    const refused = await until('the lines of the refusal are there', () => {
      const id = missing.headers.get('x-request-id');
      const found = linesOf(program.output()).filter((line) => line.request_id === id && line.code !== 'OK');
      return found.length >= 2 && found;
    });
    const named = { session_id: 'ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ', code: 'SESSION_NOT_FOUND' };
    expect(refused).toMatchObject([named, { ...named, status: 404 }]);
    const read = linesOf(program.output()).find(({ method }) => method === 'getSession');
    expect(read?.session_id).toBe(session);
    for (const secret of [
      MESSAGE,
      webhook.secret,
      ...Object.values(signed(webhook.secret, MESSAGE)).slice(1),
    ])
      expect(program.output()).not.toContain(secret);

    const created = await installation.api.post('/assistants', { name: 'Helper', model: 'rehearsal/echo' });
    const assistant = String(created.body.data.assistant_id);
    const linesOfRequest = async (path: string) => {
      const id = (await installation.api.get(path)).headers.get('x-request-id');
      return until(`the lines of ${path} are there`, () => {
        const found = linesOf(program.output()).filter((line) => line.request_id === id);
        const [call, whole] = ['listEntries', 'GET'].map((method) =>
          found.find((one) => one.method === method),
        );
        return call && whole && [call, whole];
      });
    };
    const ofSession = await linesOfRequest(`/sessions/${session}/files`);
    for (const line of ofSession) expect(line.session_id).toBe(session);
    const ofAssistant = await linesOfRequest(`/assistants/${assistant}/files`);
    for (const line of ofAssistant) expect(line.assistant_id).toBe(assistant);
  });

  it('contains one line for each refused or failed request at level info, and none for others', async () => {
    await using database = await createDatabase();
    const installation = await createUsedInstallation();
    const program = await installation.start({
      SERVICE_DATABASE_URL: database.url,
      SERVICE_LOG_LEVEL: 'info',
    });
    const { webhook } = await runWebhook(installation.api);
    const secret = 'a-secret-in-the-path';
    const refused = [
      await installation.api.get(`/sessions/${secret}`),
      await installation.api.get('/sessions/ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ'),
      await installation.api.get(`/${secret}?token=${secret}`),
      await installation.api.post('/agents', { name: 1 }),
      await installation.api.trigger({ ...webhook, secret: 'another secret' }, MESSAGE),
    ];
    const ofRequests = await until('the lines are there', () => {
      const found = linesOf(program.output()).filter((line) => 'request_id' in line);
      return found.length >= refused.length && found;
    });
    const common = { level: 'info', msg: 'request refused', duration_ms: expect.any(Number) };
    const route = '/api/v1/sessions/:session_id';
    expect(ofRequests).toMatchObject(
      [
        { method: 'GET', route, status: 404, code: 'SESSION_NOT_FOUND' },
        { method: 'GET', route, status: 404, session_id: 'ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ' },
        { method: 'GET', route: 'none', status: 404, code: 'ROUTE_NOT_FOUND' },
        { method: 'POST', route: '/api/v1/agents', status: 400, code: 'INVALID_REQUEST' },
        { method: 'POST', status: 401, code: 'DEPLOYMENT_UNAUTHORIZED', deployment_id: webhook.id },
      ].map((line, index) => ({
        ...common,
        ...line,
        request_id: refused[index]?.headers.get('x-request-id'),
      })),
    );
    expect(program.output()).not.toContain(secret);
  });
});

describe('an unavailable trace collector', () => {
  cleanUpInstallations();

  it('causes one log line, no failed request and no delay of the stop', async () => {
    await using database = await createDatabase();
    const installation = await createUsedInstallation();
    const endpoint = `http://hidden:password@127.0.0.1:${await freePort()}`;
    const program = await installation.start({
      SERVICE_DATABASE_URL: database.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hidden',
    });
    for (let i = 0; i < 5; i++) await runWebhook(installation.api);
    const outages = () => linesOf(program.output()).filter((line) => 'collector' in line);
    await until('the outage is logged', () => outages().length > 0);
    await runWebhook(installation.api);
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    expect(outages()).toMatchObject([
      {
        level: 'warn',
        msg: expect.stringContaining('traces cannot be delivered'),
        collector: endpoint.split('@')[1],
      },
    ]);
    expect(program.output()).not.toContain('hidden');
  });
});

describe('SERVICE_METRICS_LISTEN', () => {
  let system: System;
  let origin: string;
  const request = async (path: string, method = 'GET') => fetch(`${origin}${path}`, { method });
  beforeAll(async () => {
    const listen = `127.0.0.1:${await freePort()}`;
    origin = `http://${listen}`;
    system = await startSystem({ SERVICE_METRICS_LISTEN: listen });
    await runWebhook(createApi(system.url));
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('serves the metrics of the process', async () => {
    const answer = await request('/metrics');
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await answer.text();
    for (const line of [
      /^ahs_http_request_duration_seconds_count\{method="POST",route="\S+trigger",status="200"\} 1$/m,
      /^ahs_rpc_duration_seconds_count\{service="SessionsService",method="createSession",code="OK"\} 1$/m,
      /^ahs_db_statement_duration_seconds_count\{schema="sessions",statement="sessions.create"\} 1$/m,
      /^ahs_db_statement_duration_seconds_sum\{schema="sessions",statement="commit"\} [\d.]+$/m,
      /^ahs_http_latency_seconds_bucket\{le="\+Inf",kind="trigger"\} 1$/m,
      /^ahs_trigger_invocations_total\{result="accepted"\} 1$/m,
      /^ahs_turns_claimed_total 1$/m,
      /^ahs_turns_total\{status="completed"\} 1$/m,
      /^ahs_turns_queued \d+$/m,
      /^ahs_turns_oldest_ready_age_seconds [\d.]+$/m,
      /^ahs_approvals_pending 0$/m,
      /^ahs_followers 0$/m,
      /^gen_ai_client_operation_duration_count\{gen_ai_operation_name="chat",gen_ai_provider_name="rehearsal",gen_ai_request_model="echo"\} 1$/m,
      /^gen_ai_client_token_usage_sum\{[^}]+gen_ai_token_type="output"\} [1-9]\d*$/m,
      /^ahs_db_group_size_count\{schema="sessions",group="sessions.creations"\} 1$/m,
      /^ahs_db_group_waiting\{schema="sessions",group="sessions.changes"\} 0$/m,
      /^ahs_db_pool_connections\{schema="sessions",state="idle"\} \d+$/m,
      /^ahs_db_pool_waiting\{schema="auth"\} 0$/m,
      /^process_cpu_seconds_total \d/m,
      /^nodejs_eventloop_lag_seconds \d/m,
    ])
      expect(text).toMatch(line);
    const edge = await (await fetch(`${system.url}/metrics`)).text();
    expect(edge).toContain('ahs_db_statement_duration_seconds_count');
  });

  it('serves liveness and readiness', async () => {
    expect(await (await request('/livez')).json()).toEqual({ status: 'alive' });
    for (const path of ['/readyz', '/healthz?verbose']) {
      const answer = await request(path);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({
        status: 'ready',
        checks: expect.arrayContaining([{ name: 'sessions', status: 'ok' }]),
      });
    }
  });

  it('returns 404 for other paths', async () => {
    expect((await request('/')).status).toBe(404);
    expect((await request('/metrics', 'POST')).status).toBe(405);
    expect(await (await request('/metrics', 'HEAD')).text()).toBe('');
  });
});
