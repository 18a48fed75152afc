import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase, statement } from '../../../lib/db/database.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { createDatabase, type TestDatabase } from '../../support/database.ts';
import { countOn, runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';

const BACKEND = statement('test.backend', 'select pg_backend_pid() as pid');
const UNAVAILABLE = { code: 'DEPENDENCY_UNAVAILABLE' };

describe('a connection that dies in use', () => {
  let server: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    server = await createDatabase();
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
    await until('it is gone', async () => (await countOn(server.url, count)) === 0);
  }

  it('between two statements of a transaction fails the transaction, and nothing else', async () => {
    const work = database.transaction(async (tx) => {
      const [backend] = await tx.rows<{ pid: number }>(BACKEND);
      await terminate(backend?.pid);
      await tx.rows(BACKEND);
    });
    await expect(work).rejects.toMatchObject(UNAVAILABLE);
    await database.check();
  });

  it('during a statement that can be cancelled fails the statement, and nothing else', async () => {
    const slow = statement('test.slow', 'select pg_sleep(30)');
    const waiting = database.rows(slow, [], { signal: new AbortController().signal });
    waiting.catch(() => {});
    const sleeping = `select coalesce(min(pid), 0) as count from pg_stat_activity where query = '${slow.text}'`;
    const pid = await until('it runs', async () => (await countOn(server.url, sleeping)) || undefined);
    await terminate(pid);
    await expect(waiting).rejects.toMatchObject(UNAVAILABLE);
    await database.check();
  });
});
