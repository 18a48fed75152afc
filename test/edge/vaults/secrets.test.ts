import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Canaries, databaseDump } from '../../support/canaries.ts';
import { type Collector, startCollector } from '../../support/collector.ts';
import { createDatabase } from '../../support/database.ts';
import { freePort } from '../../support/port.ts';
import { type Program, runProgram } from '../../support/program.ts';
import { until } from '../../support/wait.ts';
import { CREDENTIALS } from './credential-bodies.ts';

interface Answer {
  status: number;
  text: string;
  headers: string;
  data: Record<string, unknown>;
}

describe('secrets of credentials', () => {
  const stack = new AsyncDisposableStack();
  const canaries = new Canaries();
  const answers: (Answer & { request: string })[] = [];
  let collector: Collector;
  let program: Program;
  let origin: string;
  let databaseUrl: string;

  beforeAll(async () => {
    collector = stack.use(await startCollector());
    databaseUrl = stack.use(await createDatabase()).url;
    const directory = await mkdtemp(join(tmpdir(), 'ahs-vault-secrets-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    program = runProgram({
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
    const isReady = async () => (await fetch(`${origin}/readyz`).catch(() => undefined))?.ok ?? false;
    await until('the program is ready', isReady);
    await use();
  });
  afterAll(() => stack.disposeAsync());

  async function send(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${origin}/api/v1${path}`, {
      method,
      headers: body === undefined ? headers : { 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const { status } = response;
    const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
    const answer = {
      status,
      text,
      headers: JSON.stringify([...response.headers]),
      data: isJson ? (JSON.parse(text).data ?? {}) : {},
    };
    answers.push({ ...answer, request: `${method} ${path}` });
    return answer;
  }

  /** Uses every route with secrets in the right and in wrong members. */
  async function use(): Promise<void> {
    const vault = await send('POST', '/admin/vaults', { name: 'Keys' });
    const all = `/admin/vaults/${vault.data.vault_id}/credentials`;
    const agent = await send('POST', '/agents', { name: 'Echo', model: 'rehearsal/echo' });
    const assigned = `/admin/agents/${agent.data.agent_id}/vaults`;
    await send('PUT', assigned, { vault_ids: [vault.data.vault_id] });
    for (const { body, secret } of CREDENTIALS) {
      const type = String(body.type);
      const key = { 'Idempotency-Key': `create-${type}` };
      const creation = { ...body, [secret]: canaries.create(`${type}-first`) };
      const created = await send('POST', all, creation, key);
      expect(created.status, created.text).toBe(201);
      await send('POST', all, creation, key);
      await send('POST', all, { ...body, [secret]: canaries.create(`${type}-conflict`) }, key);
      const one = `${all}/${created.data.credential_id}`;
      await send('GET', one);
      expect((await send('PATCH', one, { [secret]: canaries.create(`${type}-second`) })).status).toBe(200);
      await send('PATCH', one, { [secret]: canaries.create(`${type}-stale`) }, { 'If-Match': '"1"' });
      await send('POST', `${one}/test`);
      await sendWrong(all, one, body, secret, type);
    }
    await send('GET', all);
    await send('GET', assigned);
    const rotation = await send('POST', '/admin/vaults/rotate', { vault_id: vault.data.vault_id });
    await until('the rotation is done', async () => {
      const { data } = await send('GET', `/admin/vaults/rotations/${rotation.data.rotation_id}`);
      return data.status === 'done';
    });
    const conversation = await send('POST', `/agents/${agent.data.agent_id}/conversations`, {
      message: 'Hello',
    });
    const session = `/sessions/${conversation.data.session_id}`;
    await until('the turn has ended', async () => (await send('GET', session)).data.status === 'idle');
    await send('GET', `${session}/events`);
    await send('GET', `${session}/export`);
    await send('GET', '/admin/audit?limit=100');
    await send('GET', '/admin/configuration');
  }

  async function sendWrong(
    all: string,
    one: string,
    body: Record<string, unknown>,
    secret: string,
    type: string,
  ): Promise<void> {
    const canary = (where: string) => canaries.create(`${type}-${where}`);
    const wrong: Record<string, unknown>[] = [
      { ...body, [secret]: [canary('list')] },
      { ...body, [secret]: { inside: canary('object') } },
      { ...body, [secret]: canary('long').padEnd(20_000, 'x') },
      { ...body, [secret]: `${canary('control')}\u0007` },
      { ...body, [secret]: `${canary('nul')}\0` },
      { ...body, [secret]: `${canary('surrogate')}\ud800` },
      { ...body, [secret]: 'x', unknown: canary('unknown') },
      { ...body, [secret]: 'x', type: canary('type') },
      { ...body, [secret]: 'x', label: canary('label').padEnd(5_000, 'x') },
      { ...body, [secret]: 'x', host: `${canary('host')} `, mcp_server_url: undefined },
      { ...body, [secret]: 'x', mcp_server_url: `https://user:${canary('url')}@mcp.example.com` },
      { ...body, [secret]: 'x', allowed_hosts: [canary('allowed')] },
      { ...body, [secret]: 'x', username: `${canary('username')}:`, name: `${canary('name')} ` },
      { ...body, [secret]: 'x', provider: canary('provider') },
    ];
    for (const bad of wrong) {
      const { status, text } = await send('POST', all, bad);
      expect([400, 413], `${JSON.stringify(bad)} ${text}`).toContain(status);
    }
    const text = JSON.stringify({ ...body, [secret]: canary('truncated') }).slice(0, -2);
    for (const bad of [text, `${text}"},`, `[${text}"}]`])
      expect((await send('POST', all, bad)).status).toBe(400);
    const typed = await send('POST', all, text, { 'Content-Type': 'text/plain' });
    expect(typed.status).toBe(415);
    const other = secret === 'token' ? 'password' : 'token';
    for (const bad of [
      { [other]: canary('other') },
      { host: canary('fixed') },
      { [secret]: [canary('patch')] },
    ])
      expect((await send('PATCH', one, bad)).status).toBe(400);
    const nowhere = all.replace(/vlt_\w+/, `vlt_${'0'.repeat(26)}`);
    expect((await send('POST', nowhere, { ...body, [secret]: canary('nowhere') })).status).toBe(404);
  }

  it('are found by the test in every form', () => {
    const [secret = ''] = canaries.all;
    const forms = [
      secret,
      `x${secret}y`,
      JSON.stringify({ secret }),
      encodeURIComponent(secret),
      Buffer.from(secret).toString('hex').toUpperCase(),
      ...['', 'a', 'ab'].map((before) => Buffer.from(`${before}${secret}after`).toString('base64')),
      Buffer.from(`user:${secret}`).toString('base64url'),
    ];
    for (const form of forms) expect(canaries.in(form), form).toHaveLength(1);
    expect(canaries.in(Buffer.from(`\0\0${secret}`))).toHaveLength(1);
    expect(canaries.all.length).toBeGreaterThan(100);
  });

  it('are in no response', () => {
    const found = answers.flatMap(({ request, status, text, headers }) =>
      canaries.in(text + headers).map((name) => `${request} ${status}: ${name}`),
    );
    expect(found).toEqual([]);
    const statuses = new Set(answers.map(({ status }) => status));
    for (const status of [200, 201, 202, 400, 404, 409, 412, 415]) expect([...statuses]).toContain(status);
  });

  it('are in no log line at the most verbose level', async () => {
    await until('the requests are logged', () => program.output().includes('/credentials'));
    expect(canaries.in(program.output())).toEqual([]);
  });

  it('are in no span', async () => {
    const isCreation = ({ name }: { name: string }) => /^POST .*\/credentials$/.test(name);
    await until('the spans have arrived', () => collector.spans.some(isCreation));
    const plain = (_: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
    expect(canaries.in(JSON.stringify(collector.spans, plain))).toEqual([]);
  });

  it('are in no metric', async () => {
    const text = await (await fetch(`${origin}/metrics`)).text();
    expect(text).toContain('ahs_http_request_duration_seconds_count');
    expect(canaries.in(text)).toEqual([]);
  });

  it('are in no row of the database', async () => {
    const dump = await databaseDump(databaseUrl);
    expect(dump.some(({ table }) => table === 'vaults.credentials')).toBe(true);
    expect(dump.some(({ row }) => row.includes('credential.create'))).toBe(true);
    expect(dump.flatMap(({ table, row }) => canaries.in(row).map((name) => `${table}: ${name}`))).toEqual([]);
  });
});
