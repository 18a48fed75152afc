import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createSealer } from '../../lib/sealing.ts';
import { startTeam } from '../edge/access/team.ts';
import { type Api, createApi } from '../support/api.ts';
import { createDatabase } from '../support/database.ts';
import { FakeS3 } from '../support/fake-s3.ts';
import { cleanUpInstallations, createInstallation } from '../support/installations.ts';
import { freePort } from '../support/port.ts';
import { runOn } from '../support/sql.ts';
import { type System, startSystem } from '../support/system.ts';
import { until } from '../support/wait.ts';

interface Report {
  status: number;
  /** `ready` or `degraded`; undefined when the process is not ready. */
  state: string | undefined;
  /** The text of the verbose report. */
  text: string;
}

async function readinessOf(url: string, headers: Record<string, string> = {}): Promise<Report> {
  const [plain, verbose] = await Promise.all([
    fetch(`${url}/readyz`),
    fetch(`${url}/readyz?verbose`, { headers }),
  ]);
  const { data } = (await plain.json()) as { data?: { status: string } };
  return { status: plain.status, state: data?.status, text: await verbose.text() };
}

const createAgent = (api: Api) => api.post('/agents', { name: 'Echo', model: 'rehearsal/echo' });

async function converse(api: Api): Promise<void> {
  const agent = await api.createAgent();
  const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'hello' });
  const session = String(body.data.session_id);
  await until('the turn has ended', async () => {
    const { body } = await api.get(`/sessions/${session}`);
    return body.data.status === 'idle';
  });
}

const stateBecomes = (system: System, state: string | undefined) =>
  until(`the state is ${state}`, async () => (await readinessOf(system.url)).state === state);

const SILENT = { SERVICE_LOG_LEVEL: 'silent' };

describe('readiness of target all', () => {
  it('is degraded without Redis: conversations work', async () => {
    await using system = await startSystem({
      ...SILENT,
      SERVICE_REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
    });
    const { status, state, text } = await readinessOf(system.url);
    expect([status, state]).toEqual([200, 'degraded']);
    expect(text).toMatch(/"name":"hints","status":"degraded","problem":/);
    await converse(createApi(system.url));
  });

  it('is degraded without the identity provider: existing logins and tokens work', async () => {
    await using team = await startTeam(SILENT);
    const alice = await team.logIn('alice');
    const { value } = await alice.token(['read', 'write', 'admin']);
    const authorization = `Bearer ${value}`;
    expect((await readinessOf(team.url, { authorization })).state).toBe('ready');
    team.provider.isUnavailable = true;
    await stateBecomes(team, 'degraded');
    const { status, text } = await readinessOf(team.url, { authorization });
    expect(status).toBe(200);
    expect(text).toMatch(/"name":"identity provider","status":"degraded","problem":"the identity provider/);
    expect((await alice.get('/api/v1/agents')).status).toBe(200);
    expect((await fetch(`${team.url}/api/v1/agents`, { headers: { authorization } })).status).toBe(200);
    team.provider.isUnavailable = false;
    await stateBecomes(team, 'ready');
  });
});

describe('readiness of target all with an object store', () => {
  const stack = new AsyncDisposableStack();
  let store: FakeS3;
  let system: System;
  let api: Api;
  beforeAll(async () => {
    store = stack.use(await new FakeS3().start());
    const settings = {
      SERVICE_S3_ENDPOINT: store.endpoint,
      SERVICE_S3_BUCKET: 'files',
      SERVICE_S3_ACCESS_KEY: 'key',
      SERVICE_S3_SECRET_KEY: 'secret',
    };
    system = stack.use(await startSystem({ ...SILENT, ...settings }));
    api = createApi(system.url);
  });
  afterAll(() => stack.disposeAsync());

  it.each([
    ['full', { status: 507, code: 'InsufficientCapacity' }, 507, 'The file storage is full.'],
    ['away', { status: 503, code: 'SlowDown' }, 503, 'The file storage cannot be reached.'],
  ] as const)(
    'is degraded while the object store is %s: only file operations fail',
    async (state, failure, code, problem) => {
      const agent = await api.createAgent();
      const { body } = await api.post(`/agents/${agent}/conversations`);
      const upload = () =>
        fetch(`${system.url}/api/v1/sessions/${body.data.session_id}/files/content?path=a.txt`, {
          method: 'PUT',
          // Equal contents are stored once.
          body: state,
        });
      expect((await readinessOf(system.url)).state).toBe('ready');
      store.failure = (operation) => (operation === 'PutObject' ? failure : undefined);
      // Found without an upload.
      await stateBecomes(system, 'degraded');
      const { status, text } = await readinessOf(system.url);
      expect(status).toBe(200);
      expect(text).toContain(`"name":"file storage","status":"degraded","problem":"${problem}"`);
      expect((await upload()).status).toBe(code);
      await converse(api);
      store.failure = () => undefined;
      await stateBecomes(system, 'ready');
      expect((await upload()).status).toBe(201);
    },
  );
});

describe('readiness of target all with a database that refuses writes', () => {
  let system: System;
  let api: Api;
  beforeAll(async () => {
    system = await startSystem(SILENT);
    api = createApi(system.url);
  });
  afterAll(() => system[Symbol.asyncDispose]());

  it('is unready while the database is read-only, and ready again without a restart', async () => {
    // Connections to another database, because a connection of the read-only time stays read-only after it.
    const server = inject('postgresUrl');
    const name = new URL(system.databaseUrl).pathname.slice(1);
    const endConnections = () =>
      runOn(server, `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`);
    await runOn(server, `alter database ${name} set default_transaction_read_only = on`);
    await endConnections();
    // The first failed check may report the ended connections.
    const { status } = await until('the database is reported as read-only', async () => {
      const report = await readinessOf(system.url);
      const isReported = report.text.includes('The database is read-only and accepts no writes.');
      return report.state === undefined && isReported && report;
    });
    expect(status).toBe(503);
    expect((await createAgent(api)).status).toBeGreaterThanOrEqual(500);
    await runOn(server, `alter database ${name} reset default_transaction_read_only`);
    await endConnections();
    await stateBecomes(system, 'ready');
    await until('writes work', async () => (await createAgent(api)).status === 201);
  });

  it('is degraded while the database is full: reads work', async () => {
    await runOn(
      system.databaseUrl,
      `create function agents.refuse() returns trigger language plpgsql as
         $$ begin raise exception using errcode = '53100'; end $$;
       create trigger full_disk before insert on agents.agents execute function agents.refuse()`,
    );
    expect((await createAgent(api)).status).toBe(507);
    const { status, state, text } = await readinessOf(system.url);
    expect([status, state]).toEqual([200, 'degraded']);
    expect(text).toContain('"name":"agents","status":"degraded","problem":"The database has no space left.');
    expect((await api.get('/agents')).status).toBe(200);
    await runOn(system.databaseUrl, 'drop trigger full_disk on agents.agents');
    await stateBecomes(system, 'ready');
    expect((await createAgent(api)).status).toBe(201);
  });

  it('is degraded while turns cannot be claimed because the database is full', async () => {
    const agent = await api.createAgent();
    await runOn(
      system.databaseUrl,
      `create function sessions.refuse() returns trigger language plpgsql as
         $$ begin raise exception using errcode = '53100'; end $$;
       create trigger full_disk before update on sessions.turns execute function sessions.refuse()`,
    );
    const { body } = await api.post(`/agents/${agent}/conversations`, { message: 'hello' });
    await until('the runner reports the problem', async () =>
      (await readinessOf(system.url)).text.includes('"name":"runner","status":"degraded"'),
    );
    expect((await readinessOf(system.url)).state).toBe('degraded');
    await runOn(system.databaseUrl, 'drop trigger full_disk on sessions.turns');
    await stateBecomes(system, 'ready');
    await until('the turn has ended', async () => {
      const session = await api.get(`/sessions/${body.data.session_id}`);
      return session.body.data.status === 'idle';
    });
  });
});

describe('a start with a wrong or missing sealing key', () => {
  cleanUpInstallations();

  it('exits with 1, names the missing key, and creates none', async () => {
    await using database = await createDatabase();
    const key = 'the sealing key of the first start';
    const [keyId = ''] = createSealer(key).keyIds;
    const first = await createInstallation();
    const program = await first.start({ SERVICE_DATABASE_URL: database.url, SERVICE_SEALING_KEY: key });
    program.kill('SIGTERM');
    await program.exited;
    const wrong = { SERVICE_SEALING_KEY: 'another sealing key of enough characters' };
    for (const settings of [wrong, {}]) {
      const again = first.run({ SERVICE_DATABASE_URL: database.url, ...settings });
      expect(await again.exited).toBe(1);
      expect(again.output()).toContain(`SERVICE_SEALING_KEY: the key ${keyId},`);
    }
    expect(await readdir(join(first.dataDir, 'secrets'))).toEqual(['service-secret']);
    await first.start({ SERVICE_DATABASE_URL: database.url, SERVICE_SEALING_KEY: key });
  });
});
