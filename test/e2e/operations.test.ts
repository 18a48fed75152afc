import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../lib/db/embedded/port.ts';
import { type Api, createApi, signed } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { cleanUpPlaces, createPlace } from '../support/programs.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

const MESSAGE = 'not for any log';

type Line = Record<string, unknown>;
const linesOf = (output: string): Line[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

/** A webhook is called, and its session ends. */
async function walk(api: Api) {
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
  cleanUpPlaces();

  it('has a line of every request and call at level debug, found by what the client has seen', async () => {
    await using database = await createDatabase();
    const place = await createPlace();
    const program = await place.start({ SERVICE_DATABASE_URL: database.url, SERVICE_LOG_LEVEL: 'debug' });
    const { webhook, session, requestId, accepted } = await walk(place.api);
    const missing = await place.api.get('/sessions/ses_7ZZZZZZZZZZZZZZZZZZZZZZZZZ');
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
  });

  it('names whose files a call is about', async () => {
    await using database = await createDatabase();
    const place = await createPlace();
    const program = await place.start({ SERVICE_DATABASE_URL: database.url, SERVICE_LOG_LEVEL: 'debug' });
    const { session } = await walk(place.api);
    const made = await place.api.post('/assistants', { name: 'Helper', model: 'rehearsal/echo' });
    const assistant = String(made.body.data.assistant_id);
    const linesOfRequest = async (path: string) => {
      const id = (await place.api.get(path)).headers.get('x-request-id');
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

  it('says nothing of requests at level info', async () => {
    await using database = await createDatabase();
    const place = await createPlace();
    const program = await place.start({ SERVICE_DATABASE_URL: database.url, SERVICE_LOG_LEVEL: 'info' });
    await walk(place.api);
    expect(linesOf(program.output())).toEqual([]);
  });
});

describe('a collector that is away', () => {
  cleanUpPlaces();

  it('costs one line, no request and no second of the stop', async () => {
    await using database = await createDatabase();
    const place = await createPlace();
    const endpoint = `http://hidden:password@127.0.0.1:${await freePort()}`;
    const program = await place.start({
      SERVICE_DATABASE_URL: database.url,
      OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=hidden',
    });
    for (let i = 0; i < 5; i++) await walk(place.api);
    await until('the outage is told', () => linesOf(program.output()).length > 0);
    await walk(place.api);
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
    expect(linesOf(program.output()).filter(({ level }) => level !== 'info')).toMatchObject([
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
  const ask = async (path: string, method = 'GET') => fetch(`${origin}${path}`, { method });
  beforeAll(async () => {
    const listen = `127.0.0.1:${await freePort()}`;
    origin = `http://${listen}`;
    system = await startSystem({ SERVICE_METRICS_LISTEN: listen });
    await walk(createApi(system.url));
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('serves what the process counts and times', async () => {
    const answer = await ask('/metrics');
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    const text = await answer.text();
    for (const line of [
      /^ahs_http_request_duration_seconds_count\{method="POST",route="\S+trigger",status="200"\} 1$/m,
      /^ahs_rpc_duration_seconds_count\{service="SessionsService",method="createSession",code="OK"\} 1$/m,
      /^ahs_db_statement_duration_seconds_count\{schema="sessions",statement="sessions.create"\} 1$/m,
      /^ahs_db_statement_duration_seconds_bucket\{le="\+Inf",schema="sessions",statement="commit"\} \d+$/m,
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

  it('serves whether the process lives and can work', async () => {
    expect(await (await ask('/livez')).json()).toEqual({ status: 'alive' });
    for (const path of ['/readyz', '/healthz?verbose']) {
      const answer = await ask(path);
      expect(answer.status).toBe(200);
      expect(await answer.json()).toMatchObject({
        status: 'ready',
        checks: expect.arrayContaining([{ name: 'sessions', status: 'ok' }]),
      });
    }
  });

  it('serves nothing else', async () => {
    expect((await ask('/')).status).toBe(404);
    expect((await ask('/metrics', 'POST')).status).toBe(405);
    expect(await (await ask('/metrics', 'HEAD')).text()).toBe('');
  });
});
