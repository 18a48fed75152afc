import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedPostgres, startPostgres } from '../../lib/db/embedded.ts';
import type { SettingProblem } from '../../lib/env.ts';
import { readProcessConfig } from '../../services/bootstrap/process-config.ts';
import type { Target } from '../../services/bootstrap/target.ts';
import { createDatabase } from '../support/database.ts';
import { cleanUpInstallations, createInstallation } from '../support/installations.ts';
import { scratch } from '../support/scratch.ts';
import { runOn } from '../support/sql.ts';
import { entriesOf } from '../support/startup-problems.ts';

describe('a start that cannot succeed', () => {
  cleanUpInstallations();

  it('names the process that holds the data directory', async () => {
    await using database = await createDatabase();
    const installation = await createInstallation();
    const first = await installation.start({ SERVICE_DATABASE_URL: database.url });
    const second = installation.run({ SERVICE_PORT: '0' });
    expect(await second.exited).toBe(1);
    expect(second.output()).toContain('SERVICE_DATA_DIR');
    expect(second.output()).toContain(`process ${first.pid} `);
    expect(await installation.isReady()).toBe(true);
  });

  it('lists all problems at once, each with the expected value and the remedy', async () => {
    const installation = await createInstallation();
    const file = join(installation.dataDir, 'file');
    await writeFile(file, '');
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(installation.port, '127.0.0.1', resolve));
    const program = installation.run({
      SERVICE_DATA_DIR: file,
      SERVICE_LOG_LEVEL: 'loud',
      SERVICE_RUNNER_SLOTS: '-1',
      SERVICE_PUBLIC_URL: 'agents.example.com',
      SERVICE_SECRET: 'short',
      SERVICE_PROT: '8080',
      SERVICE_ALLOWED_HOSTS: 'a/b',
      SERVICE_DATABASE_URL: 'postgres://nobody:secret@127.0.0.1:1/none',
    });
    expect(await program.exited).toBe(1);
    await new Promise((resolve) => holder.close(resolve));
    const entries = entriesOf(program.output());
    expect(entries.map(({ title }) => title.split(/[ :]/)[0]).sort()).toEqual([
      'SERVICE_ALLOWED_HOSTS',
      'SERVICE_DATABASE_URL',
      'SERVICE_DATA_DIR',
      'SERVICE_LOG_LEVEL',
      'SERVICE_PORT',
      'SERVICE_PROT',
      'SERVICE_PUBLIC_URL',
      'SERVICE_RUNNER_SLOTS',
      'SERVICE_SECRET',
    ]);
    for (const { expected, fix } of entries) expect([expected, fix]).not.toContain('');
    expect(program.output()).not.toContain('short');
    expect(program.output()).not.toContain('secret@');
  });

  it('names the problem of caller rules', async () => {
    const installation = await createInstallation();
    const program = installation.run({ SERVICE_GRPC_CALLERS: 'sessions.ReadSession+=billing' });
    expect(await program.exited).toBe(1);
    const [entry] = entriesOf(program.output());
    expect(entry?.title.replace(/\s+/g, ' ')).toBe(
      'SERVICE_GRPC_CALLERS names the unknown method ReadSession of the service sessions',
    );
  });

  it('names the lines and fields of invalid entries in the file with models', async () => {
    const installation = await createInstallation();
    const file = join(installation.dataDir, 'models.yaml');
    await writeFile(file, 'models:\n  - name: local/a\n    context_window: 8k\n  - name: qwen\n');
    const program = installation.run({ SERVICE_MODELS_FILE: file });
    expect(await program.exited).toBe(1);
    const titles = entriesOf(program.output()).map(({ title }) => title.replace(/\s+/g, ' '));
    expect(titles).toEqual([
      expect.stringMatching(
        /^SERVICE_MODELS_FILE .*models\.yaml"\) line 3, context_window must be a whole number/,
      ),
      expect.stringMatching(/^SERVICE_MODELS_FILE .*models\.yaml"\) line 4, name must be <provider>/),
    ]);
  });

  it('names a file with models that cannot be read', async () => {
    const installation = await createInstallation();
    const program = installation.run({ SERVICE_MODELS_FILE: join(installation.dataDir, 'missing') });
    expect(await program.exited).toBe(1);
    const [entry] = entriesOf(program.output());
    expect(entry?.title.replace(/\s+/g, ' ')).toMatch(
      /^SERVICE_MODELS_FILE .*missing"\) cannot be read \(ENOENT\)$/,
    );
  });

  it('names the setting of an unusable sandbox directory', async () => {
    await using database = await createDatabase();
    const installation = await createInstallation();
    const file = join(installation.dataDir, 'file');
    await writeFile(file, '');
    const program = installation.run({ SERVICE_DATABASE_URL: database.url, SERVICE_SANDBOX_DIRECTORY: file });
    expect(await program.exited).toBe(1);
    const [entry] = entriesOf(program.output());
    expect(entry?.title).toMatch(/^SERVICE_SANDBOX_DIRECTORY: .*\sis\s+not\s+a\s+directory$/s);
  });

  it('names the access keys that the object store rejects', async () => {
    const store = createServer((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'));
      socket.on('error', () => {});
    });
    await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
    const { port } = store.address() as AddressInfo;
    await using database = await createDatabase();
    const installation = await createInstallation();
    const program = installation.run({
      SERVICE_DATABASE_URL: database.url,
      SERVICE_S3_ENDPOINT: `http://127.0.0.1:${port}`,
      SERVICE_S3_ACCESS_KEY: 'somebody',
      SERVICE_S3_SECRET_KEY: 'only-between-us',
    });
    expect(await program.exited).toBe(1);
    await new Promise((resolve) => store.close(resolve));
    const [entry] = entriesOf(program.output());
    expect(entry?.title).toMatch(/^SERVICE_S3_ACCESS_KEY: the object store denies this\s+user/);
    expect(program.output()).not.toContain('only-between-us');
  });

  it('lists the problems of all TLS files at once', async () => {
    const installation = await createInstallation();
    const env = {
      SERVICE_GRPC_LISTEN: '127.0.0.1:0',
      SERVICE_GRPC_TLS_CERT: join(installation.dataDir, 'missing'),
      SERVICE_GRPC_TLS_KEY: 'package.json',
    };
    const program = installation.run(env, ['--target=runner']);
    expect(await program.exited).toBe(1);
    const titles = entriesOf(program.output()).map(({ title }) => title.replace(/\s+/g, ' '));
    expect(titles.filter((title) => title.includes('_TLS_'))).toEqual([
      'SERVICE_GRPC_TLS_CA is not set, and SERVICE_GRPC_TLS_CERT is',
      expect.stringMatching(/^SERVICE_GRPC_TLS_CERT .* cannot be read \(ENOENT\)$/),
      'SERVICE_GRPC_TLS_KEY ("package.json") contains no PEM private key',
    ]);
  });

  it.each([
    [['--target=nonsense'], /--target \("nonsense"\) names no module\n +expected: .*all, auth/],
    [['--target'], /--target names no module/],
    [['--port=1'], /--port=1 is not an option/],
  ])('prints the problem of the arguments %j', async (args, explanation) => {
    const installation = await createInstallation();
    const program = installation.run({}, args);
    expect(await program.exited).toBe(1);
    expect(program.output()).toMatch(explanation);
  });

  const needs = {
    auth: ['SERVICE_DATABASE_URL'],
    agents: [
      'SERVICE_AUTH_ADDRESS',
      'SERVICE_DATABASE_URL',
      'SERVICE_FILES_ADDRESS',
      'SERVICE_VAULTS_ADDRESS',
    ],
    sessions: [
      'SERVICE_AGENTS_ADDRESS',
      'SERVICE_AUTH_ADDRESS',
      'SERVICE_DATABASE_URL',
      'SERVICE_FILES_ADDRESS',
    ],
    deployments: [
      'SERVICE_AGENTS_ADDRESS',
      'SERVICE_AUTH_ADDRESS',
      'SERVICE_DATABASE_URL',
      'SERVICE_PUBLIC_URL',
      'SERVICE_SEALING_KEY',
      'SERVICE_SESSIONS_ADDRESS',
    ],
    files: [
      'SERVICE_AGENTS_ADDRESS',
      'SERVICE_DATABASE_URL',
      'SERVICE_S3_ENDPOINT',
      'SERVICE_SESSIONS_ADDRESS',
    ],
    vaults: [
      'SERVICE_AGENTS_ADDRESS',
      'SERVICE_AUTH_ADDRESS',
      'SERVICE_DATABASE_URL',
      'SERVICE_PUBLIC_URL',
      'SERVICE_SEALING_KEY',
      'SERVICE_SESSIONS_ADDRESS',
    ],
    runner: [
      'SERVICE_AGENTS_ADDRESS',
      'SERVICE_FILES_ADDRESS',
      'SERVICE_SESSIONS_ADDRESS',
      'SERVICE_VAULTS_ADDRESS',
    ],
    channels: ['SERVICE_DEPLOYMENTS_ADDRESS', 'SERVICE_FILES_ADDRESS', 'SERVICE_SESSIONS_ADDRESS'],
    edge: [
      'SERVICE_AGENTS_ADDRESS',
      'SERVICE_AUTH_ADDRESS',
      'SERVICE_DEPLOYMENTS_ADDRESS',
      'SERVICE_FILES_ADDRESS',
      'SERVICE_SESSIONS_ADDRESS',
      'SERVICE_VAULTS_ADDRESS',
    ],
  };
  const allNeeds = (variables: readonly string[]) =>
    [...variables, 'SERVICE_REDIS_URL', 'SERVICE_SECRET'].toSorted();

  it.each(Object.entries(needs))(
    'finds all settings that target %s requires in a process of its own',
    (target, variables) => {
      const problems: SettingProblem[] = [];
      readProcessConfig(target as Target, { SERVICE_GRPC_LISTEN: '127.0.0.1:0' }, problems);
      expect(problems.map(({ variable }) => variable).toSorted()).toEqual(allNeeds(variables));
      for (const { variable, fix } of problems) {
        const [, service] = /^SERVICE_(\w+)_ADDRESS/.exec(variable) ?? [];
        if (service) expect(fix).toContain(`npm start -- --target=${service.toLowerCase()} `);
        if (/^SERVICE_(SECRET|SEALING_KEY)/.test(variable))
          expect(fix).toBe('make one with: openssl rand -base64 32');
      }
    },
  );

  it('lists all settings that a target requires in a process of its own', async () => {
    const installation = await createInstallation();
    const program = installation.run({ SERVICE_GRPC_LISTEN: '127.0.0.1:0' }, ['--target=edge']);
    expect(await program.exited).toBe(1);
    const missing = entriesOf(program.output()).map(({ title }) => title.split(' ')[0]);
    expect(missing.toSorted()).toEqual(allNeeds(needs.edge));
  });
});

describe('an external PostgreSQL server', () => {
  cleanUpInstallations();
  // Roles belong to the whole server, and a superuser created those of the shared test server.
  const stack = new AsyncDisposableStack();
  let directory: string;
  let server: EmbeddedPostgres;
  beforeAll(async () => {
    directory = await mkdtemp(join(scratch(), 'ahs-start-'));
    stack.defer(() => rm(directory, { recursive: true, force: true }));
    server = stack.use(await startPostgres({ directory, log: () => {} }));
  });
  afterAll(() => stack.disposeAsync());

  it('works with a login that may create schemas and roles without being superuser', async () => {
    await runOn(
      server.url,
      `create role modest login createrole password 'words'; grant create on database postgres to modest`,
    );
    const url = Object.assign(new URL(server.url), { username: 'modest', password: 'words' });
    const installation = await createInstallation();
    const program = await installation.start({ SERVICE_DATABASE_URL: url.href });
    await installation.api.createAgent();
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
  });

  it('is reported as a problem when its login may not create roles', async () => {
    await using database = await createDatabase();
    const url = new URL(database.url);
    const name = `meek_of_${url.pathname.slice(1)}`;
    await runOn(database.url, `create role ${name} login password 'words'`);
    await runOn(database.url, `grant create on database ${url.pathname.slice(1)} to ${name}`);
    const installation = await createInstallation();
    const meek = Object.assign(url, { username: name, password: 'words' });
    const program = installation.run({ SERVICE_DATABASE_URL: meek.href });
    expect(await program.exited).toBe(1);
    const [entry] = entriesOf(program.output());
    expect(entry?.title.replace(/\s+/g, ' ')).toContain(`the login ${name} may not create schemas and roles`);
    expect(entry?.fix).toContain(`ALTER ROLE ${name} CREATEROLE`);
  });

  it('works with the configured login alone when the server rejects the logins of services', async () => {
    await writeFile(
      join(directory, 'cluster', 'data', 'pg_hba.conf'),
      'host all service all scram-sha-256\n',
    );
    await runOn(server.url, 'select pg_reload_conf()');
    await runOn(server.url, 'create database other');
    const url = Object.assign(new URL(server.url), { pathname: '/other' });
    const installation = await createInstallation();
    const program = await installation.start({ SERVICE_DATABASE_URL: url.href });
    await installation.api.createAgent();
    expect(program.output()).toMatch(/PostgreSQL at SERVICE_DATABASE_URL, under its login: auth, agents, /);
    program.kill('SIGTERM');
    expect(await program.exited).toBe(0);
  });

  it('works with a changed service secret after a restart', async () => {
    await using database = await createDatabase();
    const installation = await createInstallation();
    for (const secret of ['the first secret of all services', 'the second secret of all services']) {
      const program = await installation.start({
        SERVICE_DATABASE_URL: database.url,
        SERVICE_SECRET: secret,
      });
      await installation.api.createAgent();
      program.kill('SIGTERM');
      expect(await program.exited).toBe(0);
    }
  });

  it.each([
    ['another password', { password: 'wrong' }, 'the server refuses the login'],
    ['an absent database', { pathname: '/absent' }, 'database "absent" does not exist'],
    ['a closed port', { port: '1' }, 'the server cannot be reached'],
  ])('prints the reason of a refused connection: %s', async (_, change, explanation) => {
    await using database = await createDatabase();
    const installation = await createInstallation();
    const url = Object.assign(new URL(database.url), change);
    const program = installation.run({ SERVICE_DATABASE_URL: url.href });
    expect(await program.exited).toBe(1);
    const [entry] = entriesOf(program.output());
    expect(entry?.title).toContain('SERVICE_DATABASE_URL');
    expect(entry?.title).toContain(explanation);
    expect(program.output()).not.toContain(url.password);
  });
});
