import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../../lib/db/database.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { DegradedError } from '../../../lib/modules.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.ts';
import { openPostgresProxy } from '../../support/postgres-proxy.ts';
import { undeclaredStatement } from '../../support/row-level-security.ts';
import { runOn } from '../../support/sql.ts';
import { until } from '../../support/wait.ts';

const MIGRATIONS = new URL('../../../services/deployments/migrations', import.meta.url);

describe('the check of a database', () => {
  let server: TestDatabase;
  let db: Database;
  beforeAll(async () => {
    server = await createEmptyDatabase();
    await migrate(server.url, 'deployments', MIGRATIONS);
    db = openDatabase({ url: server.url, schema: 'deployments', pool: 1, onIdleError: () => {} });
  });
  afterAll(async () => {
    await db?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const nameOfDatabase = () => new URL(server.url).pathname.slice(1);
  /** A new setting holds for new connections, as after a failover. */
  const endConnections = () =>
    runOn(
      server.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
  const passes = () =>
    db.check().then(
      () => true,
      () => false,
    );

  it('fails while the server is read-only, and passes again without a new pool', async () => {
    await db.check();
    await runOn(server.url, `alter database ${nameOfDatabase()} set default_transaction_read_only = on`);
    await endConnections();
    const readOnly = { code: 'DEPENDENCY_UNAVAILABLE', message: expect.stringContaining('read-only') };
    await until('the pool has a read-only connection', async () => {
      const message = await db.check().then(String, ({ message }: Error) => message);
      return message.includes('read-only');
    });
    await expect(db.check()).rejects.toMatchObject(readOnly);
    await runOn(
      server.url,
      `begin read write; alter database ${nameOfDatabase()} reset default_transaction_read_only; commit`,
    );
    // The check has dropped the read-only connection.
    await db.check();
  });

  it('reports a full database as degraded from a refused write until there is space', async () => {
    const full = undeclaredStatement(`do $$ begin raise exception using errcode = '53100'; end $$`);
    await expect(db.change(full)).rejects.toMatchObject({ code: 'STORAGE_FULL' });
    await expect(db.check()).rejects.toThrow(DegradedError);
    await until('the database is not full', passes);
  });

  it('reports a database as degraded that accepts no connections because its disk is full', async () => {
    await using stack = new AsyncDisposableStack();
    const proxy = stack.use(await openPostgresProxy(server.url));
    const other = openDatabase({ url: proxy.url, schema: 'deployments', pool: 1, onIdleError: () => {} });
    stack.defer(() => other.close());
    proxy.rejectConnections('53100');
    await expect(other.check()).rejects.toThrow(DegradedError);
    proxy.clear();
    await other.check();
  });
});
