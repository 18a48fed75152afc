import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, statement } from '../../../lib/db/database.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.ts';
import { countOn, runOn } from '../../support/sql.ts';
import { openTcpProxy } from '../../support/tcp-proxy.ts';
import { until } from '../../support/wait.ts';

const BACKEND = statement('test.backend', 'select pg_backend_pid() as pid');
const UNAVAILABLE = { code: 'DEPENDENCY_UNAVAILABLE' };

describe('a database connection that fails in use', () => {
  let server: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    server = await createEmptyDatabase();
    await migrate(server.url, 'auth', new URL('../../../services/auth/migrations/', import.meta.url));
    database = openDatabase({ url: server.url, schema: 'auth', pool: 4, onIdleError: () => {} });
  });
  afterAll(async () => {
    await database?.close();
    await server?.[Symbol.asyncDispose]();
  });

  async function terminate(pid: number | undefined): Promise<void> {
    await runOn(server.url, `select pg_terminate_backend(${pid})`);
    const count = `select count(*) from pg_stat_activity where pid = ${pid}`;
    await until('the backend has ended', async () => (await countOn(server.url, count)) === 0);
  }

  it('rejects only the transaction when it fails between two statements', async () => {
    const work = database.transaction(async (tx) => {
      const [backend] = await tx.rows<{ pid: number }>(BACKEND);
      await terminate(backend?.pid);
      await tx.rows(BACKEND);
    });
    await expect(work).rejects.toMatchObject(UNAVAILABLE);
    await database.check();
  });

  it('rejects only the statement when it fails during a cancellable statement', async () => {
    const slow = statement('test.slow', 'select pg_sleep(30)');
    const waiting = database.rows(slow, [], { signal: new AbortController().signal });
    waiting.catch(() => {});
    const sleeping = `select coalesce(min(pid), 0) as count from pg_stat_activity where query = '${slow.text}'`;
    const pid = await until(
      'the statement runs',
      async () => (await countOn(server.url, sleeping)) || undefined,
    );
    await terminate(pid);
    await expect(waiting).rejects.toMatchObject(UNAVAILABLE);
    await database.check();
  });
});

describe('migrate', () => {
  it('rejects when its connection fails', async () => {
    await using server = await createEmptyDatabase();
    await using wire = await openTcpProxy(Number(new URL(server.url).port));
    const directory = new URL('../../../services/auth/migrations/', import.meta.url);
    const locks = (granted: boolean) =>
      countOn(
        server.url,
        `select count(*) from pg_locks join pg_database on pg_database.oid = database
         where datname = current_database() and locktype = 'advisory' and granted = ${granted}`,
      );
    const lock = `select pg_advisory_lock(hashtextextended('ahs.migrations', 0)), pg_sleep(60)`;
    const holding = runOn(server.url, lock).catch(() => {});
    await until('another process migrates', async () => (await locks(true)) === 1);
    const throughWire = Object.assign(new URL(server.url), { port: String(wire.port) });
    const migrating = migrate(throughWire.href, 'auth', directory);
    migrating.catch(() => {});
    await until('the migration waits for the lock', async () => (await locks(false)) === 1);
    wire.cut();
    await expect(migrating).rejects.toThrow('terminated');
    await runOn(
      server.url,
      `select pg_terminate_backend(pid) from pg_locks join pg_database on pg_database.oid = database
       where datname = current_database() and locktype = 'advisory'`,
    );
    await holding;
    expect(await migrate(server.url, 'auth', directory)).not.toEqual([]);
  });
});
