import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type EmbeddedPostgres,
  type PostgresOptions,
  PostgresProblem,
  startPostgres,
} from '../../../lib/db/embedded.ts';
import { DirectoryProblem } from '../../../lib/directory.ts';
import { isAlive } from '../../support/processes.ts';
import { asUnprivilegedUser, isRoot, UNPRIVILEGED_UID } from '../../support/unprivileged-user.ts';
import { until } from '../../support/wait.ts';
import { kill, sharedDirectory, stopSupervisors, supervise, watchdogOf } from './killable.ts';

const root = sharedDirectory();
/** A directory with a cluster that every test leaves stopped. */
const used = join(root, 'used');
/** The tests simulate no power failure, so nothing has to be synced to disk. */
const FAST = { fsync: 'off' };
const running: EmbeddedPostgres[] = [];

beforeAll(async () => {
  await (await start(used)).stop();
});

afterEach(async () => {
  await stopSupervisors();
  await Promise.all(running.splice(0).map((postgres) => postgres.stop()));
});

afterAll(() => rmSync(root, { recursive: true, force: true }));

const emptyDirectory = () => mkdtempSync(join(root, 'd-'));

/** A directory with a cluster that the test may damage. */
function copiedDirectory(): string {
  const directory = emptyDirectory();
  cpSync(join(used, 'cluster'), join(directory, 'cluster'), { recursive: true });
  return directory;
}

async function start(directory: string, more: Partial<PostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const postgres = await startPostgres({ directory, settings: FAST, log: () => {}, ...more });
  running.push(postgres);
  return postgres;
}

async function query<Row extends object>(url: string | undefined, text: string): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** Commits a row. The returned function fails unless the server of another URL has that row. */
async function commitThrough(url: string | undefined): Promise<(url: string | undefined) => Promise<void>> {
  await query(url, 'drop table if exists kept; create table kept as select 7 as n');
  return async (later) => expect(await query(later, 'select n from kept')).toEqual([{ n: 7 }]);
}

const waitUntilExited = (pid: number | undefined) => until(`process ${pid} is gone`, () => !isAlive(pid));
const logOf = (directory: string) => readFileSync(join(directory, 'postgres.log'), 'utf8');

describe('startPostgres', () => {
  it('creates a cluster that only accepts its user and password', async () => {
    const directory = join(emptyDirectory(), 'new', 'deep');
    const { url } = await start(directory, { settings: {} });
    expect(await query(url, `select current_user, lower('ÄÉ')`)).toEqual([
      { current_user: 'service', lower: 'äé' },
    ]);
    const at = new URL(url);
    expect(at.hostname).toBe('127.0.0.1');
    expect(Number(at.port)).toBeLessThan(32_768);
    expect(at.password.length).toBeGreaterThanOrEqual(43);
    at.password = 'guessed';
    await expect(query(at.href, 'select 1')).rejects.toThrow(/password authentication failed/);
    const mode = (path: string) => statSync(join(directory, path)).mode & 0o777;
    expect(['.', 'cluster', 'cluster/data'].map(mode)).toEqual([0o700, 0o700, 0o700]);
    expect(['cluster/password', 'postgres.log'].map(mode)).toEqual([0o600, 0o600]);
  });

  it('keeps committed rows after a clean stop', async () => {
    const first = await start(used);
    const check = await commitThrough(first.url);
    await first.stop();
    expect(await first.exited).toEqual({ code: 0, signal: null });
    const before = logOf(used).length;
    await check((await start(used)).url);
    expect(logOf(used).slice(before)).not.toContain('not properly shut down');
  });

  it('stops while a client has an open transaction', async () => {
    const postgres = await start(used);
    const client = new pg.Client(postgres.url);
    client.on('error', () => {});
    await client.connect();
    await client.query('begin');
    await postgres.stop();
    expect(isAlive(postgres.pid)).toBe(false);
  });

  it('refuses a directory of another running process and names that process', async () => {
    const { child } = await supervise(used);
    const holder = new RegExp(`in use by process ${child.pid} since \\d{4}-\\d\\d-\\d\\dT`);
    await expect(start(used)).rejects.toThrow(holder);
    await expect(start(used)).rejects.toBeInstanceOf(DirectoryProblem);
  });

  it('waits for the server of a process that was just killed', async () => {
    const { child, url, pid } = await supervise(used);
    const check = await commitThrough(url);
    await kill(child);
    await check((await start(used)).url);
    expect(isAlive(pid)).toBe(false);
  });

  it('recovers when the server was killed together with its process', async () => {
    const { child, url, pid = 0 } = await supervise(used);
    const check = await commitThrough(url);
    process.kill(pid, 'SIGKILL');
    await kill(child);
    const before = logOf(used).length;
    await check((await start(used)).url);
    expect(logOf(used).slice(before)).toContain('not properly shut down');
  });

  it('creates a new cluster when its process was killed during creation', async () => {
    const directory = emptyDirectory();
    const { child } = await supervise(directory, { until: (message) => message.line !== undefined });
    const clusters = () => readdirSync(directory).filter((name) => name.startsWith('cluster'));
    await until('the draft contains files', () => existsSync(join(directory, clusters()[0] ?? '', 'data')));
    await kill(child);
    const { url } = await start(directory);
    expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(clusters()).toEqual(['cluster']);
  });

  it('does not receive signals of the terminal', async () => {
    const { child, url } = await supervise(used);
    process.kill(-(child.pid ?? 0), 'SIGINT');
    expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(child.exitCode).toBeNull();
  });

  it('ignores a postmaster.pid whose process id belongs to another program', async () => {
    const directory = copiedDirectory();
    const other = spawn('sleep', ['60']);
    const lines = [other.pid, `${directory}/cluster/data`, 1, 20_000, '', '127.0.0.1', '1 1', 'ready', ''];
    await writeFile(join(directory, 'cluster', 'data', 'postmaster.pid'), lines.join('\n'));
    const { url } = await start(directory);
    expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
    expect(isAlive(other.pid)).toBe(true);
    other.kill();
  });

  it('names the PostgreSQL release of incompatible data', async () => {
    const directory = copiedDirectory();
    await writeFile(join(directory, 'cluster', 'data', 'PG_VERSION'), '17\n');
    const starting = start(directory);
    await expect(starting).rejects.toThrow(
      /was created by PostgreSQL 17, and this release contains PostgreSQL 18/,
    );
    await expect(starting).rejects.toBeInstanceOf(PostgresProblem);
  });

  it('reports that the requested port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    await expect(start(used, { port })).rejects.toThrow(`port ${port} of 127.0.0.1 is taken`);
    server.close();
  });

  it('reports the PostgreSQL error for an invalid setting', async () => {
    const settings = { ...FAST, shared_buffers: 'plenty' };
    await expect(start(used, { settings })).rejects.toThrow(/invalid value for parameter "shared_buffers"/);
  });

  it('rotates its log', async () => {
    await writeFile(join(used, 'postgres.log'), 'old line\n'.repeat(600_000));
    await start(used);
    expect(logOf(used)).toMatch(/^20.* starting PostgreSQL 18/);
    expect(readFileSync(join(used, 'postgres.log.1'), 'utf8')).toMatch(/^old line\n/);
  });

  it('aborts the start and can start again', async () => {
    const directory = emptyDirectory();
    const stop = new AbortController();
    const log = () => stop.abort(new Error('never mind'));
    await expect(start(directory, { signal: stop.signal, log })).rejects.toThrow('never mind');
    const { url } = await start(directory);
    expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
  });

  const NAMELESS = 61_234;
  it.each([
    { host: 'as the user of the test run', place: () => used },
    { host: 'as an unprivileged user', place: emptyDirectory, user: UNPRIVILEGED_UID },
    {
      host: 'on a host without setpriv',
      place: copiedDirectory,
      user: UNPRIVILEGED_UID,
      without: ['setpriv'],
    },
    ...(isRoot
      ? [
          { host: 'as a user without a name', place: emptyDirectory, user: NAMELESS },
          { host: 'where root cannot create a user namespace', place: copiedDirectory, without: ['unshare'] },
        ]
      : []),
  ])('ends the server when its process is killed, and starts again, $host', async (example) => {
    const directory = example.place();
    const prefix = example.user ? asUnprivilegedUser(example.user, directory) : [];
    const { child, url, pid } = await supervise(directory, { prefix, without: example.without });
    const check = await commitThrough(url);
    await kill(child);
    await waitUntilExited(pid);
    await check((await supervise(directory, { prefix, without: example.without })).url);
  });

  it('stops a server that outlived its process and its watchdog', async () => {
    const directory = copiedDirectory();
    const prefix = asUnprivilegedUser(UNPRIVILEGED_UID, directory);
    const { child, url, pid } = await supervise(directory, { prefix, without: ['setpriv'] });
    const check = await commitThrough(url);
    process.kill(watchdogOf(child), 'SIGKILL');
    await kill(child);
    expect(await query(url, 'select 1 as n')).toEqual([{ n: 1 }]);
    await check((await supervise(directory, { prefix })).url);
    expect(isAlive(pid)).toBe(false);
  });
});
