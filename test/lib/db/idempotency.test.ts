import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Database, type DatabaseSession, openDatabase, statement } from '../../../lib/db/database.ts';
import { runOnce } from '../../../lib/db/idempotency.ts';
import { createLogins } from '../../../lib/db/logins.ts';
import { migrate } from '../../../lib/db/migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../../support/database.ts';

const ADD = statement(
  'test.idempotency.add',
  `insert into idempotency_keys (caller, key, fingerprint, answer, created_at) values ($1, $2, '', '', $3)`,
);
const LOCK = statement('test.idempotency.lock', 'select key from idempotency_keys where key = $1 for update');
const LOCK_TABLE = statement('test.idempotency.table', 'lock table idempotency_keys in share mode');
const LOCK_WAIT_MS = 50;

describe('runOnce', () => {
  let server: TestDatabase;
  let database: Database;
  beforeAll(async () => {
    server = await createEmptyDatabase();
    const { url } = server;
    const schema = 'agents';
    const migrations = new URL('../../../services/agents/migrations/', import.meta.url);
    const logins = await migrate(url, schema, migrations, (client) =>
      createLogins(client, url, schema, 'a service secret for tests that is long enough'),
    );
    database = openDatabase({ url, schema, logins, pool: 4, onIdleError: () => {} });
  });
  afterAll(async () => {
    await database?.close();
    await server?.[Symbol.asyncDispose]();
  });

  const requestWith = (key: string) => ({
    caller: 'usr_test',
    key,
    method: 'Test',
    request: new BinaryWriter(),
    now: new Date(),
  });

  const attempt = (key: string, create = async (_: DatabaseSession) => new Uint8Array([1])) =>
    runOnce(database, requestWith(key), create, { lockWaitMs: LOCK_WAIT_MS });

  /** Runs `work` while another transaction holds its locks. */
  async function duringTransaction(
    lock: (tx: DatabaseSession) => Promise<unknown>,
    work: () => Promise<void>,
  ): Promise<void> {
    const locked = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const holder = database.transaction(async (tx) => {
      await lock(tx);
      locked.resolve();
      await release.promise;
    });
    await locked.promise;
    try {
      await work();
    } finally {
      release.resolve();
      await holder;
    }
  }

  it('throws a retryable DEPENDENCY_UNAVAILABLE when a lock of the operation times out', async () => {
    await database.change(ADD, ['usr_other', 'contended', new Date()]);
    const create = async (tx: DatabaseSession) => {
      await tx.rows(LOCK, ['contended']);
      return new Uint8Array([1]);
    };
    await duringTransaction(
      (tx) => tx.rows(LOCK, ['contended']),
      async () => {
        await expect(attempt('waits', create)).rejects.toMatchObject({
          code: 'DEPENDENCY_UNAVAILABLE',
          retryAfterSeconds: 1,
        });
      },
    );
    expect(await attempt('waits', create)).toEqual({ answer: new Uint8Array([1]), replayed: false });
  });

  it('throws IDEMPOTENCY_KEY_IN_USE while another transaction inserts the key', async () => {
    await duringTransaction(
      (tx) => tx.change(ADD, ['usr_test', 'new', new Date()]),
      async () => {
        await expect(attempt('new')).rejects.toMatchObject({
          code: 'IDEMPOTENCY_KEY_IN_USE',
          retryAfterSeconds: 1,
        });
      },
    );
  });

  it('throws IDEMPOTENCY_KEY_IN_USE while another transaction renews an expired key', async () => {
    await database.change(ADD, ['usr_test', 'expired', new Date(0)]);
    await duringTransaction(
      (tx) => tx.rows(LOCK, ['expired']),
      async () => {
        await expect(attempt('expired')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_IN_USE' });
      },
    );
    expect(await attempt('expired')).toMatchObject({ replayed: false });
  });

  it('throws DEPENDENCY_UNAVAILABLE, and not that the key is in use, while the table of keys is locked', async () => {
    const lockTable = (tx: DatabaseSession) => tx.rows(LOCK_TABLE);
    await duringTransaction(lockTable, async () => {
      await expect(attempt('free')).rejects.toMatchObject({
        code: 'DEPENDENCY_UNAVAILABLE',
        retryAfterSeconds: 1,
      });
    });
    expect(await attempt('free')).toMatchObject({ replayed: false });
  });
});
